#include "relay/sequence.h"

static enum seq_verdict judge(const struct seq_tracker *tracker,
                              uint64_t number, uint64_t first_id)
{
    if (!tracker->started)
        return SEQ_FIRST;
    if (number <= tracker->last)
        return SEQ_RESTART;
    /* A restart can land above the old number; its ids still start over. */
    if (first_id != 0 && first_id <= tracker->last_id)
        return SEQ_RESTART;
    return number == tracker->last + 1 ? SEQ_NEXT : SEQ_GAP;
}

/* Was a number left out before this message?  A publisher starts at 1, so one
 * that started over and is past it has left some out already. */
static bool shows_hole(enum seq_verdict verdict, uint64_t number)
{
    return verdict == SEQ_GAP || (verdict == SEQ_RESTART && number > 1);
}

struct seq_judgement seq_track(struct seq_tracker *tracker, uint64_t number,
                               uint64_t first_id, uint64_t last_id)
{
    struct seq_judgement judgement = {.verdict =
                                          judge(tracker, number, first_id)};

    if (judgement.verdict == SEQ_GAP)
        judgement.missing = number - tracker->last - 1;
    /* A new gap or a restart marks the same place anyway. */
    judgement.guard = seq_guard_close(tracker) && judgement.verdict == SEQ_NEXT;
    tracker->guard_due =
        tracker->guard && shows_hole(judgement.verdict, number);
    if (judgement.verdict == SEQ_RESTART || last_id != 0)
        tracker->last_id = last_id;
    tracker->last = number;
    tracker->started = true;
    return judgement;
}

void seq_forget_id(struct seq_tracker *tracker)
{
    tracker->last_id = 0;
}

bool seq_guard_close(struct seq_tracker *tracker)
{
    bool due = tracker->guard_due;

    tracker->guard_due = false;
    return due;
}

void seq_stamper_init(struct seq_stamper *stamper)
{
    *stamper = (struct seq_stamper){.next = 1, .next_id = 1};
}

uint64_t seq_take(struct seq_stamper *stamper)
{
    stamper->silent = false;
    return stamper->next++;
}

void seq_spoil(struct seq_stamper *stamper)
{
    stamper->silent = true;
}

uint64_t seq_reserve(struct seq_stamper *stamper, uint64_t width)
{
    if (width < 1)
        width = 1;
    if (width > SEQ_WIDTH_MAX)
        width = SEQ_WIDTH_MAX;
    stamper->silent = true;
    stamper->next += width;
    return width;
}

uint64_t seq_take_id(struct seq_stamper *stamper)
{
    return stamper->next_id++;
}

uint64_t seq_last(const struct seq_stamper *stamper)
{
    return stamper->next - 1;
}

uint64_t seq_read(const uint8_t bytes[8])
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

void seq_write(uint64_t number, uint8_t bytes[8])
{
    for (int i = 7; i >= 0; i--, number >>= 8)
        bytes[i] = (uint8_t)number;
}
