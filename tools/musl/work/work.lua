-- SPDX-License-Identifier: MIT
-- Words counted, sorted and joined; closures and coroutines; a matrix; strings that grow.
local seed = 42
local function next(n) seed = (seed * 1103515245 + 12345) % 2147483648; return seed // 65536 % n end
local words, count = {}, {}
for i = 1, 60000 do
	local w = {}
	for k = 1, 3 + next(8) do w[k] = string.char(97 + next(26)) end
	words[i] = table.concat(w)
	count[words[i]] = (count[words[i]] or 0) + 1
end
table.sort(words)
local text = table.concat(words, ' ')
local n = 0
for w in text:gmatch('%a+') do if count[w] > 1 then n = n + 1 end end
local list
for i = 1, 100000 do list = { value = i, rest = i % 100 ~= 0 and list or nil, call = function() return i end } end
local function generate(k) return coroutine.wrap(function() for i = 1, k do coroutine.yield(i * i) end end) end
local sum = 0
for i = 1, 2000 do for v in generate(10) do sum = sum + v end end
local s = ''
for i = 1, 4000 do s = s .. i end
local m = {}
for i = 1, 200 do m[i] = {} for k = 1, 200 do m[i][k] = i * k % 7 end end
print(n, sum, #s, #text, m[200][199], list.call())
