/*
 * config_yaml - YAML text to a tree
 *
 * One document.  Depth, size and the number of values are bounded, aliases
 * included: what an alias repeats counts each time.
 */
#ifndef BASE_CONFIG_YAML_H
#define BASE_CONFIG_YAML_H

#include "base/config_mistakes.h"
#include "base/config_value.h"

enum {
    CONFIG_TEXT_MAX = 4 << 20,     /* bytes of a file */
    CONFIG_STRINGS_MAX = 16 << 20, /* bytes of all strings, expanded */
    CONFIG_VALUES_MAX = 500000,
    CONFIG_ANCHORS_MAX = 1000,
    CONFIG_DEPTH_MAX = 64
};

/*
 * Fill `root`; the caller clears it either way.  False when the text is not
 * YAML or too large: then there is nothing to judge.  What is wrong with single
 * values is told too, but they are in the tree, marked as broken.
 */
bool config_yaml_read(const char *text, size_t size, struct config_value *root,
                      struct config_mistakes *mistakes);

#endif
