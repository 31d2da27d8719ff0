/*
 * try - kvgate try CONFIG|FILTER FILE: what becomes of each event
 */
#ifndef CLI_TRY_H
#define CLI_TRY_H

int try_main(int argc, char **argv);
void try_help(void);

#endif
