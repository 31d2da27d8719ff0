#include "relay/loss.h"

const char *loss_cause_name(enum loss_cause cause)
{
    static const char *const names[LOSS_CAUSES] = {
        [LOSS_GAP] = "gap",           [LOSS_GUARD] = "guard",
        [LOSS_RESTART] = "restart",   [LOSS_FRAMES] = "frames",
        [LOSS_SEQUENCE] = "sequence", [LOSS_PAYLOAD] = "payload",
        [LOSS_EVENT] = "event",       [LOSS_FILTER] = "filter",
        [LOSS_SPACE] = "space",       [LOSS_SIZE] = "size",
        [LOSS_SEND] = "send",         [LOSS_RELOAD] = "reload",
    };

    return names[cause];
}
