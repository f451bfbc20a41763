/** A uid and a URN are copied whole: a terminal that breaks one by itself still copies it as one. */
const WHOLE = /(urn:pulumi:\S+|[0-9a-f]{40}(?:\/[0-9a-f]{16})*)/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns that a text takes on a terminal: marks take none, East Asian letters and emoji two. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    if (/\p{Mn}|\p{Me}/u.test(character)) continue;
    columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** A word in the pieces that may stand on lines of their own: its uids and URNs, and the characters between them. */
function piecesOf(word: string): string[] {
  return word.split(WHOLE).flatMap((part, index) => (index % 2 === 1 ? [part] : Array.from(part)));
}

/** Puts pieces on lines; a piece wider than a line has one of its own. */
class LineFiller {
  readonly lines: string[] = [];
  private line = "";
  private used = 0;

  constructor(private readonly columns: number) {}

  add(piece: string, separator = ""): void {
    const needed = columnsOf(piece);
    if (this.used > 0 && this.used + separator.length + needed > this.columns) this.finishLine();
    const gap = this.used > 0 ? separator : "";
    this.line += gap + piece;
    this.used += gap.length + needed;
  }

  finishLine(): void {
    this.lines.push(this.line);
    this.line = "";
    this.used = 0;
  }
}

/** Breaks at spaces, and inside a word only where it is wider than a line; never inside a uid or a URN. Line feeds are not expected. */
export function wrap(text: string, columns: number): string[] {
  const filler = new LineFiller(columns);
  for (const word of text.split(" ")) {
    if (columnsOf(word) <= columns) {
      filler.add(word, " ");
      continue;
    }
    const [first = "", ...pieces] = piecesOf(word);
    filler.add(first, " ");
    for (const piece of pieces) filler.add(piece);
  }
  filler.finishLine();
  return filler.lines;
}
