#include "cli/tap_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

/* False when the program shall end first. */
static bool wait_for_room(const struct tap_output *output)
{
    struct pollfd items[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                             {.fd = output->stop, .events = POLLIN}};

    while (poll(items, 2, -1) < 0)
        continue;
    return items[1].revents == 0;
}

/* A pipe that is ready takes so much without blocking. */
static ssize_t write_some(const uint8_t *bytes, size_t size)
{
    return write(STDOUT_FILENO, bytes, size < PIPE_BUF ? size : PIPE_BUF);
}

bool tap_output_flush(struct tap_output *output)
{
    size_t done = 0;

    while (done < output->lines.size) {
        ssize_t written;

        if (!wait_for_room(output))
            return false;
        written =
            write_some(output->lines.data + done, output->lines.size - done);
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            output->failure = errno;
            return false;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    buffer_clear(&output->lines);
    return true;
}
