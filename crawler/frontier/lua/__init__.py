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
local SLICE = 1000 -- how many go into one command; Lua hands over about eight thousand arguments

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

# -> lines of number, crawl and url; nothing at all when the queue is not the one that the caller left behind
TAKE = """
local domain, crawls, limit, now, skip, mark = unpack(given)
if mark and call('HGET', prefix .. 'state:' .. domain, 'mark') ~= mark then return false end
if limit < 1 then return '' end

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

local ids_of, lines = {}, {}
for at = 1, math.min(limit, #first) do
  local id, crawl = first[at][1], first[at][2]
  ids_of[crawl] = ids_of[crawl] or {}
  table.insert(ids_of[crawl], id)
end
local url_of = {}
for crawl, ids in pairs(ids_of) do
  for start = 1, #ids, SLICE do
    local slice = {unpack(ids, start, math.min(start + SLICE - 1, #ids))}
    for at, url in ipairs(call('HMGET', key('urls', crawl, domain), unpack(slice))) do
      if not url then return false end
      url_of[slice[at]] = url
    end
  end
end
for at = 1, math.min(limit, #first) do
  local id, crawl = first[at][1], first[at][2]
  lines[at] = id .. ' ' .. crawl .. ' ' .. url_of[id]
end
return table.concat(lines, '\\n')
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
