import { PolicyError } from './policy-error.ts';
import { readYaml, type YamlText } from './read-yaml.ts';

/**
 * The line (from 1) of a JSON Pointer in the text of a bundle, YAML or JSON. A missing member has the line of its
 * nearest container. `null` when there is no such line.
 */
export function lineOfPath(text: string, path: string): number | null {
  return linesOf(text)(path);
}

/** Reads the text once for several pointers. A text that is refused as YAML has no lines. */
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
