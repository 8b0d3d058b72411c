-- People at work, for wrk: each connection is somebody with a session of their own, who reads the item on the page and
-- sends its form as the browser does; the response brings the next item.
--
--     wrk -t50 -c50 -d9s -s answer_pages.lua ADDRESS -- PEOPLE PATH BEGIN END CHOICE...
--
-- As many threads as connections: a thread is one person. PEOPLE: a file with a line for each, "NUMBER COOKIES", as
-- benchmarks/under_wrk.py writes it. PATH: of the work page. BEGIN, END: in seconds of the clock; what is answered
-- between them is measured, and what comes before warms up. CHOICE...: who has the number n answers "item-000042" with
-- choice (42 + n) modulo their count, so that what was stored can be checked.

local ffi = require("ffi")
ffi.cdef("struct moment { long seconds; long microseconds; }; int gettimeofday(struct moment *, void *);")
local moment = ffi.new("struct moment")

local threads = {}

local function now()
  ffi.C.gettimeofday(moment, nil)
  return tonumber(moment.seconds) + tonumber(moment.microseconds) / 1e6
end

function setup(thread)
  thread:set("place", #threads + 1)
  table.insert(threads, thread)
end

function init(args)
  acknowledged, failed, nothing_left, first_failure, seconds = 0, 0, 0, "", {}
  local line = 0
  for person in io.lines(args[1]) do
    line = line + 1
    if line == place then
      number, cookies = person:match("^(%d+) (.+)$")
    end
  end
  path, first, last, choices = args[2], tonumber(args[3]), tonumber(args[4]), {}
  for position = 5, #args do
    table.insert(choices, args[position])
  end
  local host = wrk.headers["Host"]
  local address = wrk.scheme .. "://" .. host .. path
  looking = {["Host"] = host, ["Cookie"] = cookies, ["Accept"] = "text/html"}
  sending = {
    ["Host"] = host, ["Cookie"] = cookies, ["Accept"] = "*/*", ["Referer"] = address, ["HX-Current-URL"] = address,
    ["Content-Type"] = "application/x-www-form-urlencoded", ["HX-Request"] = "true", ["HX-Target"] = "item",
    ["HX-Trigger"] = "answer-form",
  }
  item = nil
end

function request()
  sent_at = now()
  if item == nil then
    return wrk.format("GET", path, looking, nil)
  end
  return wrk.format("POST", item.action, sending, item.body)
end

function response(status, headers, body)
  if status ~= 200 then
    failed, item = failed + 1, nil
    if first_failure == "" then
      first_failure = status .. " " .. body:sub(1, 200)
    end
    return
  end
  if item ~= nil then
    local at = now()
    acknowledged = acknowledged + 1
    if first <= at and at < last then
      table.insert(seconds, at - sent_at)
    end
  end
  item = item_on(body)
  if item == nil then
    nothing_left = nothing_left + 1
  end
end

-- Where the form of a page goes and what it sends; nil on a page without an item.
function item_on(page)
  local form = page:find('<form id="answer-form"', 1, true)
  if form == nil then
    return nil
  end
  local key = page:match('data%-headline="item%-(%d+)')
  local sent = {"label=" .. choices[(key + number) % #choices + 1], "active_seconds=1"}
  local mark, stop = '<input type="hidden" name="', page:find("</form>", form, true)
  local at = page:find(mark, form, true)
  while at ~= nil and at < stop do
    local name, after = up_to_quote(page, mark, at)
    local value = up_to_quote(page, 'value="', after)
    if name ~= "active_seconds" then -- the page's script counts them
      table.insert(sent, name .. "=" .. encoded(value))
    end
    at = page:find(mark, after, true)
  end
  return {action = up_to_quote(page, 'action="', form), body = table.concat(sent, "&")}
end

-- What stands between a mark and the next quote, and where it ends.
function up_to_quote(page, mark, from)
  local _, before = page:find(mark, from, true)
  local quote = page:find('"', before + 1, true)
  return page:sub(before + 1, quote - 1), quote
end

local ENTITIES = {["&quot;"] = '"', ["&#x27;"] = "'", ["&lt;"] = "<", ["&gt;"] = ">", ["&amp;"] = "&"}

function encoded(value)
  local plain = value:gsub("&[#%w]+;", ENTITIES)
  return (plain:gsub("[^%w%-_.~]", function(character) return string.format("%%%02X", character:byte()) end))
end

function done(summary)
  local errors = summary.errors
  local figures = {
    acknowledged = 0, failed = 0, nothing_left = 0,
    socket_errors = errors.connect + errors.read + errors.write + errors.timeout,
  }
  local all, failure = {}, ""
  for _, thread in ipairs(threads) do
    for _, name in ipairs({"acknowledged", "failed", "nothing_left"}) do
      figures[name] = figures[name] + thread:get(name)
    end
    for _, one in ipairs(thread:get("seconds")) do
      table.insert(all, one)
    end
    failure = failure == "" and thread:get("first_failure") or failure
  end
  table.sort(all)
  figures.answered = #all
  for _, part in ipairs({50, 95, 99}) do
    figures["p" .. part .. "_ms"] = #all > 0 and 1000 * all[math.ceil(#all * part / 100)] or 0
  end
  for name, figure in pairs(figures) do
    io.write(string.format("= %s %.3f\n", name, figure))
  end
  if failure ~= "" then
    io.write("first failure: " .. failure:gsub("%s+", " ") .. "\n")
  end
end
