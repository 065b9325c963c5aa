import { PolicyError } from './policy-error.ts';
import { readYaml, type YamlText } from './read-yaml.ts';

/** The line, from 1, of the place in a bundle's text (YAML or JSON) that a JSON Pointer names, or of what holds it; null for the whole. */
export function lineOfPath(text: string, path: string): number | null {
  return linesOf(text)(path);
}

/** The same for several places of one text, which is read once. A text that is refused as YAML has no places. */
export function linesOf(text: string): (path: string) => number | null {
  const read = readIfAllowed(text);
  return (path) => {
    if (read === null) return null;
    const steps = path
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    for (let length = path === '' ? 0 : steps.length; length > 0; length--) {
      const line = read.lineOf(read.document.getIn(steps.slice(0, length), true));
      if (line !== null) return line;
    }
    return null;
  };
}

function readIfAllowed(text: string): YamlText | null {
  try {
    return readYaml(text);
  } catch (error) {
    // Stryker disable next-line ConditionalExpression: The reader throws no other error.
    if (error instanceof PolicyError) return null;
    throw error;
  }
}
