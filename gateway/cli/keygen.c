#include "cli/keygen.h"

#include "base/memory.h"
#include "base/secret.h"
#include "cli/usage.h"
#include "io/keypair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECRET_MODE = 0600, PUBLIC_MODE = 0644 };

/* Whole, on the disk, with that mode whatever the umask. */
static bool fill_file(int descriptor, const char *key, mode_t mode)
{
    char line[Z85_KEY + 2];
    size_t size = (size_t)snprintf(line, sizeof line, "%s\n", key);
    bool done = fchmod(descriptor, mode) == 0 &&
                write(descriptor, line, size) == (ssize_t)size &&
                fsync(descriptor) == 0;

    secret_wipe(line, sizeof line);
    return close(descriptor) == 0 && done;
}

/* Never over a file that is there, nor through a link. */
static bool write_file(const char *path, const char *key, mode_t mode,
                       struct error *error)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

    if (descriptor < 0) {
        error_set(error, "%s: %s", path,
                  errno == EEXIST ? "it is there already, and a key is not "
                                    "overwritten"
                                  : strerror(errno));
        return false;
    }
    if (fill_file(descriptor, key, mode))
        return true;
    error_set(error, "%s: cannot write: %s", path, strerror(errno));
    unlink(path);
    return false;
}

/* The public one first: it may be made again from nothing, but a secret key
 * without it is one that nobody can be told of. */
static bool write_pair(const char *path, const char *public_path,
                       const struct keypair *pair, struct error *error)
{
    if (!write_file(public_path, pair->public_key, PUBLIC_MODE, error))
        return false;
    if (write_file(path, pair->secret_key, SECRET_MODE, error))
        return true;
    unlink(public_path);
    return false;
}

static int generate(const char *path)
{
    size_t room = strlen(path) + sizeof ".pub";
    char *public_path = memory_new(room);
    struct keypair pair;
    struct error error = {0};

    snprintf(public_path, room, "%s.pub", path);
    if (keypair_make(&pair, &error) &&
        write_pair(path, public_path, &pair, &error))
        printf("%s\n", pair.public_key);
    secret_wipe(&pair, sizeof pair);
    free(public_path);
    if (!error_is_set(&error))
        return EXIT_FINE;
    fprintf(stderr, "kvgate keygen: %s\n", error.text);
    return EXIT_FAILED;
}

void keygen_help(void)
{
    printf("usage: kvgate keygen FILE\n"
           "\n"
           "Make a key pair for CURVE: the secret key in FILE, which nobody\n"
           "else can read (mode 0600), the public key in FILE.pub, and on\n"
           "standard output.  Each is one line of 40 characters (Z85).  No\n"
           "file is overwritten.\n"
           "\n"
           "The end that is the server keeps FILE as secret_key_file; its\n"
           "clients are told FILE.pub as server_key_file, each with a pair of\n"
           "its own, whose public key may stand on the server's allow list.\n");
}

int keygen_main(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-' && argv[1][0] != '\0')
        return generate(argv[1]);
    fprintf(stderr, "usage: kvgate keygen FILE\n");
    return EXIT_USAGE;
}
