/*
 * check - kvgate check CONFIG: all of a start but the sockets
 */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

int check_main(int argc, char **argv);
void check_help(void);

#endif
