#include "base/nearest.h"

#include <string.h>

enum { WORD_MAX = 128 }; /* longer words are nobody's misspelling */

/* Levenshtein's distance, one row at a time. */
static unsigned distance(const char *a, size_t a_size, const char *b,
                         size_t b_size)
{
    unsigned row[WORD_MAX + 1];

    for (unsigned i = 0; i <= b_size; i++)
        row[i] = i;
    for (unsigned i = 1; i <= a_size; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b_size; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);

            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_size];
}

/* Further than this and the guess would be a joke. */
static unsigned most_edits(size_t size)
{
    if (size < 3)
        return 1;
    return size < 10 ? 2 : 3;
}

/* How far `word` is from `known`: an abbreviation is near. */
static unsigned remoteness(const char *word, size_t size, const char *known,
                           size_t known_size)
{
    size_t shared = size < known_size ? size : known_size;

    if (shared > 2 && size != known_size && memcmp(word, known, shared) == 0)
        return 1;
    return distance(word, size, known, known_size);
}

void nearest_offer(struct nearest *nearest, const char *known)
{
    size_t size = strlen(nearest->word), known_size = strlen(known);
    unsigned far;

    if (size > WORD_MAX || known_size > WORD_MAX)
        return;
    far = remoteness(nearest->word, size, known, known_size);
    /* A word that shares no letter is no misspelling. */
    if (far > most_edits(size) || far >= known_size)
        return;
    if (nearest->known != NULL && far >= nearest->distance)
        return;
    nearest->known = known;
    nearest->distance = far;
}
