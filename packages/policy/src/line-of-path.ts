import { isNode, LineCounter, parseDocument } from 'yaml';

/** The line, from 1, of the place in a bundle's text (YAML or JSON) that a JSON Pointer names, or of what holds it; null for the whole. */
export function lineOfPath(text: string, path: string): number | null {
  return linesOf(text)(path);
}

/** The same for several places of one text, which is read once. */
export function linesOf(text: string): (path: string) => number | null {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  return (path) => {
    const steps = path
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    for (let length = path === '' ? 0 : steps.length; length > 0; length--) {
      const node = document.getIn(steps.slice(0, length), true);
      if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
    }
    return null;
  };
}
