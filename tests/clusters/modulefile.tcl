# SPDX-License-Identifier: Apache-2.0
# tclsh modulefile.tcl FILE: runs a modulefile with stand-ins for the commands of modules, which print what they are told.
foreach {command word} {module-whatis whatis conflict conflict prepend-path prepend} {
  proc $command {args} "puts \[join \[concat $word \$args\] \\t\]"
}
set file [open [lindex $argv 0]]
if {[gets $file] ne "#%Module1.0"} { error "the first line is not that of a modulefile" }
close $file
source [lindex $argv 0]
ModulesHelp
