/*
 * nearest - the known word that a misspelt one was probably meant to be
 *
 *     struct nearest nearest = {.word = "filter"};
 *     nearest_offer(&nearest, "filters"); ... once for each known word
 *     if (nearest.known != NULL) ... did you mean `nearest.known`?
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

struct nearest {
    const char *word;
    const char *known; /* the nearest so far, borrowed; NULL: none is near */
    unsigned distance; /* edits from `word` to it; an abbreviation is one */
};

/* Could `word` be a misspelling of `known`?  Of two as near the first stays. */
void nearest_offer(struct nearest *nearest, const char *known);

#endif
