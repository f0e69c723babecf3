-- SPDX-License-Identifier: Apache-2.0
-- lua5.4 modulefile.lua FILE: runs a modulefile with stand-ins for Lmod's functions, which print what they are told.
local function tells(word)
  return function(...) print(table.concat({word, ...}, "\t")) end
end
help = function(text) assert(#text > 0) end
whatis = tells("whatis")
conflict = tells("conflict")
prepend_path = tells("prepend")
dofile(arg[1])
