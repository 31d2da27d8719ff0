/*
 * sim - kvgate sim: a Mooncake Store master that has nothing but its event
 * publisher
 *
 * Speaks today's publisher byte for byte, for demonstrations, load and tests.
 * All that it makes follows from --seed, but the time.
 */
#ifndef CLI_SIM_H
#define CLI_SIM_H

/* `argv[0]` is the subcommand.  Returns the exit code. */
int sim_main(int argc, char **argv);

#endif
