"""The scripts of RedisFrontier."""

from __future__ import annotations

# Counters are added up here and written once a script.
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
