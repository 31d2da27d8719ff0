#include "cli/tap_value.h"

const char *tap_value_decode(msgpack_unpacked *value, const uint8_t *bytes,
                             size_t size)
{
    size_t offset = 0;

    msgpack_unpacked_init(value);
    if (size > TAP_VALUE_MAX)
        return "too large to be shown";
    /* Well-formed as it is, the one thing left is msgpack-c's own bound. */
    if (msgpack_unpack_next(value, (const char *)bytes, size, &offset) !=
        MSGPACK_UNPACK_SUCCESS)
        return "nested too deep to be shown";
    return NULL;
}

static void write_hex(struct json *json, const char *bytes, uint32_t size)
{
    static const char digits[] = "0123456789abcdef";
    struct buffer text = {0};

    for (uint32_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)bytes[i];

        buffer_put(&text, (char[]){digits[byte >> 4], digits[byte & 15]}, 2);
    }
    json_string(json, buffer_text(&text), text.size);
    buffer_free(&text);
}

static void write_bin(struct json *json, const msgpack_object_bin *bin)
{
    json_object(json);
    json_key(json, "$bin");
    write_hex(json, bin->ptr, bin->size);
    json_end(json);
}

static void write_ext(struct json *json, const msgpack_object_ext *ext)
{
    json_object(json);
    json_key(json, "$ext");
    json_i64(json, ext->type);
    json_key(json, "data");
    write_hex(json, ext->ptr, ext->size);
    json_end(json);
}

static void write_array(struct json *json, const msgpack_object_array *array)
{
    json_array(json);
    for (uint32_t i = 0; i < array->size; i++)
        tap_value_write(json, &array->ptr[i]);
    json_end(json);
}

static void write_map(struct json *json, const msgpack_object_map *map)
{
    json_object(json);
    for (uint32_t i = 0; i < map->size; i++) {
        tap_value_key(json, &map->ptr[i].key);
        tap_value_write(json, &map->ptr[i].val);
    }
    json_end(json);
}

void tap_value_key(struct json *json, const msgpack_object *key)
{
    struct buffer text = {0};
    struct json inner = {.out = &text};

    if (key->type == MSGPACK_OBJECT_STR) {
        json_key_bytes(json, key->via.str.ptr, key->via.str.size);
        return;
    }
    tap_value_write(&inner, key);
    json_key_bytes(json, buffer_text(&text), text.size);
    buffer_free(&text);
}

void tap_value_write(struct json *json, const msgpack_object *value)
{
    switch (value->type) {
    case MSGPACK_OBJECT_NIL:
        json_null(json);
        break;
    case MSGPACK_OBJECT_BOOLEAN:
        json_bool(json, value->via.boolean);
        break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        json_u64(json, value->via.u64);
        break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        json_i64(json, value->via.i64);
        break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        json_double(json, value->via.f64);
        break;
    case MSGPACK_OBJECT_STR:
        json_string(json, value->via.str.ptr, value->via.str.size);
        break;
    case MSGPACK_OBJECT_BIN:
        write_bin(json, &value->via.bin);
        break;
    case MSGPACK_OBJECT_EXT:
        write_ext(json, &value->via.ext);
        break;
    case MSGPACK_OBJECT_ARRAY:
        write_array(json, &value->via.array);
        break;
    case MSGPACK_OBJECT_MAP:
        write_map(json, &value->via.map);
        break;
    }
}
