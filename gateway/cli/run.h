/*
 * run - kvgate run CONFIG: the gateway itself
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

int run_main(int argc, char **argv);
void run_help(void);

#endif
