"""The scripts of RedisQueue."""

from __future__ import annotations

from crawler.frontier.lua import PRIORITY_SCORE

# A queue follows the record's steps (mirrored.py): `applied` is the last up to which it has them all,
# `early:<n>` are later ones that came before their turn. One that misses too many is given up; it is built anew.
FOLLOWING = """
local MOST_EARLY = 1000

local function state_of(domain) return prefix .. 'state:' .. domain end

local function grow(domain, crawl, by)
  if by ~= 0 and call('HINCRBY', state_of(domain), 'size:' .. crawl, by) == 0 then
    call('HDEL', state_of(domain), 'size:' .. crawl)
  end
end

-- New URLs of one crawl, none of them delayed. Those that are here already stay as they are.
local function enqueue_many(domain, crawl, ids, priorities, texts)
  local urls, ready = key('urls', crawl, domain), key('ready', crawl, domain)
  for start = 1, #ids, SLICE do
    local last = math.min(start + SLICE - 1, #ids)
    local known = call('HMGET', urls, unpack(ids, start, last))
    local fields, places = {}, {}
    for at = start, last do
      if not known[at - start + 1] then
        local next = #fields + 1
        fields[next], fields[next + 1] = ids[at], texts[at]
        places[next], places[next + 1] = priorities[at] * PRIORITY_SCORE + ids[at], ids[at]
      end
    end
    if #fields > 0 then
      call('HSET', urls, unpack(fields))
      call('ZADD', ready, unpack(places))
      grow(domain, crawl, #fields / 2)
    end
  end
end

-- True when it was not here before.
local function enqueue(domain, id, crawl, url, due)
  if call('HSETNX', key('urls', crawl, domain), id, url) == 0 then return false end
  line_up(crawl, domain, id, url:match('^%d+ %d+ (%d+)'), due)
  grow(domain, crawl, 1)
  return true
end

-- True when all of them were here.
local function dequeue_many(domain, crawl, ids)
  local gone = 0
  for start = 1, #ids, SLICE do
    local last = math.min(start + SLICE - 1, #ids)
    gone = gone + call('HDEL', key('urls', crawl, domain), unpack(ids, start, last))
    if call('ZREM', key('ready', crawl, domain), unpack(ids, start, last)) <= last - start then
      call('ZREM', key('later', crawl, domain), unpack(ids, start, last))
    end
  end
  grow(domain, crawl, -gone)
  return gone == #ids
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
""".replace("PRIORITY_SCORE", str(PRIORITY_SCORE))

# What a step did, or the part of it that fits. A step that the queue has already is a late one that a rebuild has seen,
# or comes from a record that was set back: the queue is given up, as nobody can tell which.
APPLY = """
for _, change in ipairs(given) do
  local domain, step, is_last, fresh, again, gone, retried, old_mark, new_mark = unpack(change)
  local state = state_of(domain)
  local applied = tonumber(call('HGET', state, 'applied') or (step == 1 and 0))
  if applied and (step <= applied or call('HEXISTS', state, 'early:' .. step) == 1) then
    drop(domain)
  elseif applied then
    call('HSETNX', state, 'applied', applied)
    local is_sound = true
    for crawl, urls in pairs(fresh) do enqueue_many(domain, crawl, unpack(urls)) end
    -- What is admitted again is not here, unless the step that refused it has not arrived yet and would take it away.
    for _, one in ipairs(again) do is_sound = enqueue(domain, one[1], one[2], one[3], false) and is_sound end
    -- What leaves was here, unless it was taken elsewhere and the step that brings it has not arrived yet.
    for crawl, ids in pairs(gone) do is_sound = dequeue_many(domain, crawl, ids) and is_sound end
    for _, one in ipairs(retried) do
      dequeue_many(domain, one[2], {one[1]})
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
local domain, mark, ready, delayed = unpack(given)
if call('HGET', state_of(domain), 'building') ~= mark then return 0 end
for crawl, urls in pairs(ready) do enqueue_many(domain, crawl, unpack(urls)) end
for _, one in ipairs(delayed) do enqueue(domain, one[1], one[2], one[3], one[4]) end
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
