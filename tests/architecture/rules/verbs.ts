import ts from 'typescript';
import type { ImportGraph } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';

/** A verb of the vocabulary with the rooms that may use it for what they declare. */
export type Verb = { verb: string; rooms: string[] };

/** A name that somebody declared, with the room-like place of its file: `governance-kernel/boundary/facts.ts`. */
type Declared = { path: string; place: string; name: string };

/** The entries of docs/vocabulary.md that say which rooms use a verb. */
export function verbsOf(vocabulary: string): Verb[] {
  return vocabulary.split(/^- /m).flatMap((entry) => {
    const [, verb, rooms] = /^\*\*(\w+)\*\*: .*\sRooms:\s(.*)$/s.exec(entry) ?? [];
    if (verb === undefined || rooms === undefined) return [];
    return [{ verb, rooms: [...rooms.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '') }];
  });
}

/** A verb with one meaning does not name anything else: each stays in the rooms where it means that. */
export function verbsStayInTheirRooms({ files }: ImportGraph, verbs: readonly Verb[]): string[] {
  const declared = files.flatMap(declaredIn);
  return verbs.flatMap(({ verb, rooms }) =>
    declared
      .filter(({ place, name }) => uses(name, verb) && !rooms.some((room) => isIn(place, room)))
      .map(({ path, name }) => `${path}: ${name} (${verb} belongs to ${rooms.join(', ')})`),
  );
}

/** A room that the vocabulary names although nothing there uses the verb any more. */
export function roomsUseTheirVerbs({ files }: ImportGraph, verbs: readonly Verb[]): string[] {
  const declared = files.flatMap(declaredIn);
  return verbs.flatMap(({ verb, rooms }) =>
    rooms
      .filter((room) => !declared.some(({ place, name }) => uses(name, verb) && isIn(place, room)))
      .map((room) => `${room} does not use ${verb}`),
  );
}

function isIn(place: string, room: string): boolean {
  return place === room || place.startsWith(`${room}/`);
}

/** Functions, methods, classes, types and variables, and the file itself, which is named after what it exports. */
function declaredIn({ path, syntax }: ImportGraph['files'][number]): Declared[] {
  const inside = insideSrc(path);
  if (inside === null) return [];
  const place = `${unitOf(path).split('/').at(-1) ?? ''}/${inside}`;
  const names = [inside.slice(inside.lastIndexOf('/') + 1).replace(/\.ts$/, '')];
  const visit = (node: ts.Node): void => {
    const name = nameOf(node);
    if (name !== null) names.push(name);
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return names.map((name) => ({ path, place, name }));
}

function nameOf(node: ts.Node): string | null {
  const declares =
    ts.isFunctionDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isClassDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node);
  if (!declares || node.name === undefined) return null;
  return ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name) ? node.name.text : null;
}

/** In any form: `settle`, `settled`, `settlement`. To fail closed is a term of its own and closes nothing. */
function uses(name: string, verb: string): boolean {
  const words = name
    .replace(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const form = new RegExp(`^${verb.replace(/e$/, '')}(e?[sdr]?|e[dr]s?|es|ers|ings?|e?able|e?ments?)$`);
  return words.some((word, index) => form.test(word) && words[index - 1] !== 'fail');
}
