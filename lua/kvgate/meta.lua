---@meta

--- Types of the filter API, for editors (LuaCATS). Never loaded. The modules that scripts require
--- (digest, emit, keys, log, match, metrics, options, shards, state, tenants, u64, value) have
--- theirs beside the code.

---@alias kvgate.Hash uint64_t|int64_t exact 64 bits; int64_t only if the wire says negative
---@alias kvgate.Integer number|uint64_t|int64_t a number up to 2^53 either way, cdata beyond
---@alias kvgate.Label string|boolean|kvgate.Integer value of a label of a metric

--- What a filter says of an event: the event or true keep it, false drops it, names narrow where it
--- may go, a list of the event and copies of it takes its place. Anything else is an error.
---@alias kvgate.Verdict boolean|string|string[]|kvgate.Event|kvgate.Event[]

---@alias kvgate.OnEvent fun(event: kvgate.Event): kvgate.Verdict

--- Called before the events of each message.
---@alias kvgate.OnBatch fun(batch: kvgate.Batch)

--- Called where something was lost: the source's name (nil: an event of no source), names of the
--- streams that the loss reaches, the cause, and how many numbers or events.
---@alias kvgate.OnLoss fun(source: string?, reach: string[], cause: kvgate.Cause, count: number)

---@alias kvgate.Cause
---| "gap" numbers are missing upstream
---| "guard" the gap before may have shown one message early
---| "restart" the publisher started over
---| "frames" a message had not three frames
---| "sequence" a message had no number of 8 bytes
---| "payload" a message was no batch
---| "event" an event was malformed
---| "filter" a filter failed on an event

--- Called each `every` seconds, with the Unix time in milliseconds.
---@alias kvgate.OnTick fun(now: number)

--- What a filter is called for. At least one hook; on_tick and every go together.
---@class kvgate.Hooks
---@field on_event kvgate.OnEvent? without it every event is kept
---@field on_batch kvgate.OnBatch?
---@field on_loss kvgate.OnLoss?
---@field on_tick kvgate.OnTick?
---@field every number? seconds between two calls of on_tick, 0.01 to 86400

--- A message whose events come next.
---@class kvgate.Batch
---@field source string
---@field sequence uint64_t its number
---@field timestamp kvgate.Integer
---@field dp_rank kvgate.Integer?
---@field count number events in it, malformed ones too

---@alias kvgate.Filter kvgate.OnEvent|kvgate.Hooks

--- What a script file returns. It is called once for each filter that names the file, with the
--- filter's options: maps and lists are tables, integers beyond 2^53 are 64-bit cdata.
---@alias kvgate.Factory fun(options: table<string, any>): kvgate.Filter

--- One event of the batch in hand. Used later it raises. Fields that are nil or absent read nil;
--- assigning nil writes nil. Fields that are not listed here read and take any value.
---@class kvgate.Event
---@field event_id uint64_t read-only: streams stamp it
---@field timestamp kvgate.Integer? milliseconds; one for all events of a message
---@field event_type "stored"|"removed"|"cleared"|string|nil
---@field type "BlockStored"|"BlockRemoved"|"AllBlocksCleared"|string|nil legacy name of the type
---@field model_name string?
---@field block_size kvgate.Integer?
---@field additional_salt string?
---@field lora_name string?
---@field tenant_id string?
---@field backend_id string?
---@field medium "cpu"|"disk"|string|nil
---@field dp_rank kvgate.Integer?
---@field group_id string?
---@field object_key string?
---@field connector_block_hash string?
---@field cache_prefix string?
---@field tp_rank kvgate.Integer?
---@field head_or_tp_rank kvgate.Integer?
---@field pcp_rank kvgate.Integer?
---@field dcp_rank kvgate.Integer?
---@field pp_rank kvgate.Integer?
---@field layer_id kvgate.Integer?
---@field seq_hashes kvgate.Hash[]|kvgate.Hash|nil a list; one hash is written as a list of one
---@field block_hashes kvgate.Hash[]|kvgate.Hash|nil legacy name of seq_hashes
---@field base_block_idx kvgate.Integer?
---@field parent_hash kvgate.Hash?
---@field token_ids kvgate.Integer[]?
---@field parent_block_hash kvgate.Hash? legacy name of parent_hash
---@field source string? read-only: the name of the source; nil: emitted in a tick
---@field has fun(self: kvgate.Event, name: string): boolean is the field there, be it nil?
---@field remove fun(self: kvgate.Event, name: string) take the field away: absent, not nil
---@field copy fun(self: kvgate.Event): kvgate.Event one more, which exists once a verdict names it
---@field to_table fun(self: kvgate.Event): table<string, any> all fields; nil is value.null
---@field [string] any
local Event = {}

return Event
