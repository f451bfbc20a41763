/** What runners of CI take for a command: GitHub at the beginning of a line, its older form and Azure anywhere, TeamCity. */
export const COMMAND = /^\s*::[a-z]|##\[|##vso\[|##teamcity\[/im;

/** What a terminal acts upon, or what changes the order of what is read. */
export const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A text that is all of that. `header` values cannot hold line breaks. */
export const HOSTILE_HEADER = "##[error]x ##vso[task.setvariable variable=a]b";
export const HOSTILE_TEXT = `::add-mask::x\r\n::error::y\n  ::warning::z\u001b[2J\u009b2J\u0007\u202e\u2028${HOSTILE_HEADER}`;
