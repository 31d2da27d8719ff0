/*
 * security - who may come to a socket, and as whom it comes to others
 *
 *   curve   encrypted; the server has a key that clients know, and may have a
 *           list of the clients' keys
 *   plain   a name and a password, which anybody on the way can read
 *
 * Which end is the server has nothing to do with which end binds, although it
 * mostly is that one.  Keys are Z85 texts.
 */
#ifndef BASE_SECURITY_H
#define BASE_SECURITY_H

#include "base/error.h"
#include "base/z85.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum security_kind { SECURITY_NONE = 0, SECURITY_CURVE, SECURITY_PLAIN };

enum {
    SECURITY_CLIENTS_MAX = 65536, /* on one list */
    SECURITY_WORD_MAX = 255,      /* bytes of a name or password: ZMTP's own */
};

struct security {
    enum security_kind kind;
    bool server;
    char secret_key[Z85_KEY + 1];
    char server_key[Z85_KEY + 1]; /* of a client */
    bool listed; /* a server lets none but `clients` in; else any key */
    uint8_t (*clients)[Z85_BYTES]; /* sorted */
    size_t client_count;
    char username[SECURITY_WORD_MAX + 1];
    char password[SECURITY_WORD_MAX + 1];
};

/* Wipe it and free what lies under it. */
void security_clear(struct security *security);

/* Whether a socket may stay as it is: the list may be another, and who is
 * on it is asked anew of each connection. */
bool security_is_same(const struct security *a, const struct security *b);

/* ---- filling one; false and `error` when what was given is wrong ---- */

bool security_read_secret_key(struct security *security, const char *path,
                              struct error *error);
bool security_set_server_key(struct security *security, const char *text,
                             size_t size, struct error *error);
bool security_read_server_key(struct security *security, const char *path,
                              struct error *error);
bool security_read_password(struct security *security, const char *path,
                            struct error *error);

/* Put one more on the list, which is a list from then on. */
bool security_allow(struct security *security, const char *text, size_t size,
                    struct error *error);

/* One key a line, perhaps with a space and words behind it; empty lines and
 * lines that begin with "# " say nothing. */
bool security_read_list(struct security *security, const char *path,
                        struct error *error);

/* Behind the last of them: makes the list fit for security_is_listed. */
void security_sort_list(struct security *security);

/* Whether a server lets the client with this key in. */
bool security_is_listed(const struct security *security, const uint8_t *key);

#endif
