#include "base/config_endpoint.h"
#include "base/config_parts.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One socket that the gateway will open. */
struct use {
    struct config_endpoint endpoint;
    const char *side; /* "source", "stream", "admin" */
    const char *name; /* or NULL */
    const char *text; /* the endpoint as written */
    struct config_mark mark;
    bool bind;
};

static void add_socket(struct use *uses, size_t *count, const char *side,
                       const char *name, const struct config_socket *socket)
{
    struct use *use = &uses[*count];
    struct error error = {0};

    /* An endpoint that is told as wrong is not there. */
    if (socket->endpoint == NULL ||
        !config_endpoint_parse(socket->endpoint, socket->bind, &use->endpoint,
                               &error))
        return;
    use->side = side;
    use->name = name;
    use->text = socket->endpoint;
    use->mark = socket->mark;
    use->bind = socket->bind;
    (*count)++;
}

static void add_admin(struct use *uses, size_t *count, const char *text,
                      struct config_mark mark)
{
    struct use *use = &uses[*count];
    struct error error = {0};

    if (!config_address_parse(text, &use->endpoint, &error))
        return;
    use->side = "admin";
    use->text = text;
    use->mark = mark;
    use->bind = true;
    (*count)++;
}

/* By address; the file's order among those that may clash. */
static int compare(const void *a, const void *b)
{
    const struct use *left = a;
    const struct use *right = b;

    if (left->endpoint.transport != right->endpoint.transport)
        return left->endpoint.transport < right->endpoint.transport ? -1 : 1;
    if (left->endpoint.port != right->endpoint.port)
        return left->endpoint.port < right->endpoint.port ? -1 : 1;
    if (left->mark.line != right->mark.line)
        return left->mark.line < right->mark.line ? -1 : 1;
    return left->mark.column < right->mark.column   ? -1
           : left->mark.column > right->mark.column ? 1
                                                    : 0;
}

/* `stream "acme"` */
static struct config_shown show_use(const struct use *use)
{
    struct config_shown shown;
    struct config_shown name = {""};

    if (use->name != NULL)
        name = config_show(use->name, strlen(use->name));
    snprintf(shown.text, sizeof shown.text, "%s%s%.140s", use->side,
             use->name != NULL ? " " : "", name.text);
    return shown;
}

static void tell(struct config_judge *judge, const struct use *use,
                 const struct use *other, const char *expected)
{
    config_mistake(&judge->mistakes, use->mark,
                   "%s %s %s, which %s binds in line %u, expected %s",
                   show_use(use).text, use->bind ? "binds" : "connects to",
                   config_show(use->text, strlen(use->text)).text,
                   show_use(other).text, other->mark.line, expected);
}

/* What one of our own streams sends must not come in by one of our sources. */
static void check_loop(struct config_judge *judge, const struct use *target,
                       const struct use *bound)
{
    if (strcmp(target->side, bound->side) != 0 &&
        config_endpoint_reaches(&target->endpoint, &bound->endpoint))
        tell(judge, target, bound, "no loop");
}

/* Judge `use` against those before it; true when it is bound already. */
static bool check_pair(struct config_judge *judge, const struct use *before,
                       const struct use *use)
{
    if (before->bind && use->bind) {
        if (!config_endpoint_clashes(&before->endpoint, &use->endpoint))
            return false;
        tell(judge, use, before, "an address of its own");
        return true;
    }
    if (before->bind)
        check_loop(judge, use, before);
    else if (use->bind)
        check_loop(judge, before, use);
    return false;
}

static void check_uses(struct config_judge *judge, struct use *uses,
                       size_t count)
{
    size_t first = 0; /* of those with one transport and port */

    if (count > 0)
        qsort(uses, count, sizeof *uses, compare);
    for (size_t i = 1; i < count; i++) {
        if (uses[i].endpoint.transport != uses[first].endpoint.transport ||
            uses[i].endpoint.port != uses[first].endpoint.port)
            first = i;
        for (size_t j = first; j < i; j++)
            if (check_pair(judge, &uses[j], &uses[i]))
                break;
    }
}

void config_check_addresses(struct config_judge *judge)
{
    const struct config *config = judge->config;
    size_t most = config->source_count + config_output_count(config) + 1;
    struct use *uses = memory_new(most * sizeof *uses);
    char admin[CONFIG_ENDPOINT_MAX] = "";
    size_t count = 0;

    for (size_t i = 0; i < config->source_count; i++)
        add_socket(uses, &count, "source", config->sources[i].name,
                   &config->sources[i].socket);
    for (size_t i = 0; i < config_output_count(config); i++)
        add_socket(uses, &count, "stream", config_output(config, i)->name,
                   &config_output(config, i)->socket);
    if (config->admin_host != NULL) {
        bool ipv6 = strchr(config->admin_host, ':') != NULL;

        snprintf(admin, sizeof admin, "%s%s%s:%u", ipv6 ? "[" : "",
                 config->admin_host, ipv6 ? "]" : "", config->admin_port);
        add_admin(uses, &count, admin, config->admin_mark);
    }
    check_uses(judge, uses, count);
    free(uses);
}
