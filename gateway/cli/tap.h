/*
 * tap - kvgate tap: a stream of KV events as JSON lines
 *
 * Prints what any subscriber of a stream would see: its events, and where its
 * numbers tell of a loss.
 */
#ifndef CLI_TAP_H
#define CLI_TAP_H

/* `argv[0]` is the subcommand.  Returns the exit code. */
int tap_main(int argc, char **argv);

#endif
