/** @typedef {import('./texts-of-source.mjs').Text} Text */

/**
 * Paragraphs, items and cells of a Markdown document, without its code.
 * @param {string} document
 * @returns {Text[]}
 */
export function textsOfDocument(document) {
  /** @type {Text[]} */
  const texts = [];
  /** @type {Text | null} */
  let paragraph = null;
  let fence = '';
  for (const [index, line] of document.split('\n').entries()) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? '';
    if (mark !== '' && (fence === '' || mark.startsWith(fence))) {
      fence = fence === '' ? mark : '';
      paragraph = null;
    } else if (fence !== '' || isNoProse(line)) paragraph = null;
    else if (line.startsWith('|')) {
      paragraph = null;
      for (const cell of line.split('|')) texts.push({ kind: 'document', text: plain(cell), line: index + 1 });
    } else if (paragraph === null || beginsItem(line)) {
      paragraph = { kind: 'document', text: plain(line), line: index + 1 };
      texts.push(paragraph);
    } else paragraph.text += `\n${plain(line)}`;
  }
  return texts;
}

/** @param {string} line */
function isNoProse(line) {
  return line.trim() === '' || /^\s*(<|-{3,}$)/.test(line);
}

/** @param {string} line */
function beginsItem(line) {
  return /^\s*([-*+]|\d+\.)\s|^#/.test(line);
}

/**
 * Removes the marks of items, headings, emphasis and links.
 * @param {string} line
 */
function plain(line) {
  return line
    .replace(/^\s*([-*+]|\d+\.|#+|>)\s+/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|__/g, '');
}
