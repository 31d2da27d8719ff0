/*
 * keygen - make a key pair: FILE and FILE.pub
 */
#ifndef CLI_KEYGEN_H
#define CLI_KEYGEN_H

int keygen_main(int argc, char **argv);
void keygen_help(void);

#endif
