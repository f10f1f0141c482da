"""The scripts that run inside Redis, each atomic. Every one is given KEYS[1], the prefix, and ARGV[1], JSON.

    ready:<crawl>:<domain>   sorted set   numbers of URLs that may be fetched, by priority and number
    later:<crawl>:<domain>   sorted set   numbers of URLs that may not yet, by the time they are due
    urls:<crawl>:<domain>    hash         number -> "crawl_count failure_count priority depth hops hash url"

    RedisFrontier alone                                     RedisQueue alone
    known:<crawl>    hash   url hash -> number              state:<domain>   hash   applied, early:<n>, mark,
    about            hash   number -> crawl, domain,                                building, size:<crawl>
                            status, refusal
    counts:<crawl>   hash   what stats says
    crawls           set    crawls with counts
    number           the last number given

A URL that is pending is in exactly one of `ready` and `later`.
"""

from __future__ import annotations

# Priority above, number below, exact in a double's 53 bits: ten priorities, 5 * 10**14 URLs.
PRIORITY_SCORE = 2**49

SHARED = """
local prefix, given, call = KEYS[1], cjson.decode(ARGV[1]), redis.call

local function key(kind, crawl, domain) return prefix .. kind .. ':' .. crawl .. ':' .. domain end

local function line_up(crawl, domain, id, priority, due)
  local ready, later = key('ready', crawl, domain), key('later', crawl, domain)
  if due then
    call('ZREM', ready, id)
    call('ZADD', later, due, id)
  else
    call('ZREM', later, id)
    call('ZADD', ready, priority * PRIORITY_SCORE + id, id)
  end
end

local function step_out(crawl, domain, id)
  if call('ZREM', key('ready', crawl, domain), id) == 0 then call('ZREM', key('later', crawl, domain), id) end
end
""".replace("PRIORITY_SCORE", str(PRIORITY_SCORE))

# -> number, crawl, url, number, …; nothing at all when the queue is not the one that the caller left behind
TAKE = """
local domain, crawls, limit, now, skip, mark = unpack(given)
if mark and call('HGET', prefix .. 'state:' .. domain, 'mark') ~= mark then return false end
if limit < 1 then return {} end

local skipped = {}
for _, id in ipairs(skip) do skipped[id] = true end

local first = {}
for _, crawl in ipairs(crawls) do
  for _, id in ipairs(call('ZRANGEBYSCORE', key('later', crawl, domain), '-inf', now)) do
    local url = call('HGET', key('urls', crawl, domain), id)
    if not url then return false end
    line_up(crawl, domain, id, url:match('^%d+ %d+ (%d+)'), false)
  end
  local range = call('ZRANGE', key('ready', crawl, domain), 0, limit + #skip - 1, 'WITHSCORES')
  for at = 1, #range, 2 do
    if not skipped[range[at]] then first[#first + 1] = {range[at], crawl, tonumber(range[at + 1])} end
  end
end
if #crawls > 1 then table.sort(first, function(one, other) return one[3] < other[3] end) end

local answer = {}
for at = 1, math.min(limit, #first) do
  local id, crawl = unpack(first[at])
  local url = call('HGET', key('urls', crawl, domain), id)
  if not url then return false end
  answer[3 * at - 2], answer[3 * at - 1], answer[3 * at] = id, crawl, url
end
return answer
"""

# -> the time as text, '' when nothing waits; nothing at all as above
NEXT_DUE = """
local domain, crawls, mark = unpack(given)
if mark and call('HGET', prefix .. 'state:' .. domain, 'mark') ~= mark then return false end
local earliest = nil
for _, crawl in ipairs(crawls) do
  if call('EXISTS', key('ready', crawl, domain)) == 1 then return '0' end
  local later = call('ZRANGE', key('later', crawl, domain), 0, 0, 'WITHSCORES')
  if later[2] and (not earliest or tonumber(later[2]) < tonumber(earliest)) then earliest = later[2] end
end
return earliest or ''
"""

# RedisFrontier. Counters are added up here and written once a script.
COUNTING = """
local sums = {}

local function count(crawl, field, by)
  local fields = sums[crawl] or {}
  sums[crawl] = fields
  fields[field] = (fields[field] or 0) + by
end

local function count_pending(crawl, domain, priority, by)
  count(crawl, 'priority ' .. priority, by)
  count(crawl, 'domain ' .. domain, by)
end

local function write_counts()
  for crawl, fields in pairs(sums) do
    for field, by in pairs(fields) do
      if by ~= 0 and call('HINCRBY', prefix .. 'counts:' .. crawl, field, by) == 0 then
        call('HDEL', prefix .. 'counts:' .. crawl, field)
      end
    end
  end
end

local function describe(id, crawl, domain, status, refusal)
  call('HSET', prefix .. 'about', id, crawl .. ' ' .. domain .. ' ' .. status .. ' ' .. (refusal or '-'))
end

local function described(id)
  local about = call('HGET', prefix .. 'about', id)
  if about then return about:match('^(%S+) (%S+) (%S+) (%S+)$') end
end
"""

# -> [[number, 0 known | 1 new | 2 admitted again], …] as JSON, in the order given
PUT = """
local found, may_pass = given[1], {}
for _, refusal in ipairs(given[2]) do may_pass[refusal] = true end

local function add(crawl, hash, domain, priority, terms, refusal)
  local id = string.format('%d', call('INCR', prefix .. 'number'))
  local status = refusal and 'blocked' or 'pending'
  call('HSET', prefix .. 'known:' .. crawl, hash, id)
  call('HSET', key('urls', crawl, domain), id, '0 0 ' .. terms)
  describe(id, crawl, domain, status, refusal)
  count(crawl, 'status ' .. status, 1)
  if not refusal then
    line_up(crawl, domain, id, priority, false)
    count_pending(crawl, domain, priority, 1)
  end
  return id
end

local function admit(id, priority, terms)
  local crawl, domain, status, refusal = described(id)
  if status ~= 'blocked' or not may_pass[refusal] then return 0 end
  local urls = key('urls', crawl, domain)
  local counts, address = call('HGET', urls, id):match('^(%d+ %d+) %d+ %d+ %d+ (.*)$')
  call('HSET', urls, id, counts .. ' ' .. terms:match('^%d+ %d+ %d+') .. ' ' .. address)
  describe(id, crawl, domain, 'pending')
  line_up(crawl, domain, id, priority, false)
  count(crawl, 'status blocked', -1)
  count(crawl, 'status pending', 1)
  count_pending(crawl, domain, priority, 1)
  return 2
end

local answer = {}
for at, one in ipairs(found) do
  local crawl, hash, domain, priority, terms, refusal = unpack(one)
  local id, outcome = call('HGET', prefix .. 'known:' .. crawl, hash), 0
  if not id then
    id, outcome = add(crawl, hash, domain, priority, terms, refusal), 1
    call('SADD', prefix .. 'crawls', crawl)
  elseif not refusal then
    outcome = admit(id, priority, terms)
  end
  answer[at] = {tonumber(id), outcome}
end
write_counts()
return cjson.encode(answer)
"""

SETTLE = """
for _, one in ipairs(given) do
  local id, status, refusal, failures, due, attempts = unpack(one)
  local crawl, domain, before = described(id)
  if crawl then
    local urls = key('urls', crawl, domain)
    local visits, priority, rest = call('HGET', urls, id):match('^(%d+) %d+ (%d+) (.*)$')
    call('HSET', urls, id, string.format('%d %d %s %s', visits + attempts, failures, priority, rest))
    describe(id, crawl, domain, status, refusal)
    count(crawl, 'status ' .. before, -1)
    count(crawl, 'status ' .. status, 1)
    if before == 'pending' then count_pending(crawl, domain, priority, -1) end
    if status == 'pending' then
      count_pending(crawl, domain, priority, 1)
      line_up(crawl, domain, id, priority, due)
    else
      step_out(crawl, domain, id)
    end
  end
end
write_counts()
return 0
"""

# -> [[field, count, …], delayed] for each crawl
STATS = """
local crawl, now = unpack(given)
local answer, after = {}, string.format('(%.17g', now)
for _, each in ipairs(crawl and {crawl} or call('SMEMBERS', prefix .. 'crawls')) do
  local counts, delayed = call('HGETALL', prefix .. 'counts:' .. each), 0
  for at = 1, #counts, 2 do
    local domain = counts[at]:match('^domain (.*)$')
    if domain then delayed = delayed + call('ZCOUNT', key('later', each, domain), after, '+inf') end
  end
  answer[#answer + 1] = {counts, delayed}
end
return answer
"""

# RedisQueue. A queue follows the record's steps (mirrored.py): `applied` is the last up to which it has them all,
# `early:<n>` are later ones that came before their turn. One that misses too many is given up; it is built anew.
FOLLOWING = """
local MOST_EARLY = 1000

local function state_of(domain) return prefix .. 'state:' .. domain end

local function enqueue(domain, id, crawl, url, due)
  local is_new = call('HSETNX', key('urls', crawl, domain), id, url) == 1
  if is_new then
    call('HINCRBY', state_of(domain), 'size:' .. crawl, 1)
    line_up(crawl, domain, id, url:match('^%d+ %d+ (%d+)'), due)
  end
  return is_new
end

local function dequeue(domain, id, crawl)
  if call('HDEL', key('urls', crawl, domain), id) == 0 then return false end
  step_out(crawl, domain, id)
  if call('HINCRBY', state_of(domain), 'size:' .. crawl, -1) == 0 then
    call('HDEL', state_of(domain), 'size:' .. crawl)
  end
  return true
end

local function drop(domain)
  for _, field in ipairs(call('HKEYS', state_of(domain))) do
    local crawl = field:match('^size:(.*)$')
    if crawl then
      call('UNLINK', key('ready', crawl, domain), key('later', crawl, domain), key('urls', crawl, domain))
    end
  end
  call('UNLINK', state_of(domain))
end

local function note(domain, applied, step)
  local state = state_of(domain)
  if step > applied + MOST_EARLY then return drop(domain) end
  call('HSET', state, 'early:' .. step, '')
  while call('HDEL', state, string.format('early:%d', applied + 1)) == 1 do applied = applied + 1 end
  call('HSET', state, 'applied', string.format('%d', applied))
end
"""

# What a step did, or the part of it that fits. A step that was applied, or that a rebuild has seen, changes nothing.
APPLY = """
for _, change in ipairs(given) do
  local domain, step, is_last, fresh, again, gone, retried, old_mark, new_mark = unpack(change)
  local state = state_of(domain)
  local applied = tonumber(call('HGET', state, 'applied') or (step == 1 and 0))
  if applied and step > applied and call('HEXISTS', state, 'early:' .. step) == 0 then
    call('HSETNX', state, 'applied', applied)
    local is_sound = true
    for _, one in ipairs(fresh) do enqueue(domain, one[1], one[2], one[3], false) end
    -- What is admitted again is not here, unless the step that refused it has not arrived yet and would take it away.
    for _, one in ipairs(again) do is_sound = enqueue(domain, one[1], one[2], one[3], false) and is_sound end
    -- What leaves was here, unless it was taken elsewhere and the step that brings it has not arrived yet.
    for _, one in ipairs(gone) do is_sound = dequeue(domain, one[1], one[2]) and is_sound end
    for _, one in ipairs(retried) do
      dequeue(domain, one[1], one[2])
      enqueue(domain, one[1], one[2], one[3], one[4])
    end
    if not is_sound then
      drop(domain)
    elseif is_last then
      note(domain, applied, step)
      if old_mark and call('HGET', state, 'mark') == old_mark then call('HSET', state, 'mark', new_mark) end
    end
  end
end
return 0
"""

# -> 1 for each queue that has every step and lost nothing, and now bears the mark; 0 for the others
ADOPT = """
local function is_whole(domain, step)
  local fields = call('HGETALL', state_of(domain))
  local applied, is_sound = nil, true
  for at = 1, #fields, 2 do
    local crawl = fields[at]:match('^size:(.*)$')
    if fields[at] == 'applied' then applied = tonumber(fields[at + 1]) end
    if fields[at] == 'building' then is_sound = false end
    if crawl then
      local lined_up = call('ZCARD', key('ready', crawl, domain)) + call('ZCARD', key('later', crawl, domain))
      local kept = call('HLEN', key('urls', crawl, domain))
      is_sound = is_sound and lined_up == kept and kept == tonumber(fields[at + 1])
    end
  end
  return is_sound and applied == step
end

local answer = {}
for at, one in ipairs(given) do
  local domain, step, mark = unpack(one)
  answer[at] = 0
  if is_whole(domain, step) then
    call('HSET', state_of(domain), 'mark', mark)
    answer[at] = 1
  end
end
return answer
"""

# A rebuild: begin, fill …, finish. `building` says whose it is; another one that begins ends it.
BEGIN = """
local domain, step, mark = unpack(given)
drop(domain)
call('HSET', state_of(domain), 'applied', step, 'building', mark)
return 1
"""
FILL = """
local domain, mark, rows = unpack(given)
if call('HGET', state_of(domain), 'building') ~= mark then return 0 end
for _, one in ipairs(rows) do enqueue(domain, one[1], one[2], one[3], one[4]) end
return 1
"""
FINISH = """
local domain, mark = unpack(given)
if call('HGET', state_of(domain), 'building') ~= mark then return 0 end
call('HDEL', state_of(domain), 'building')
call('HSET', state_of(domain), 'mark', mark)
return 1
"""
DROP = "for _, domain in ipairs(given) do drop(domain) end return 0"
