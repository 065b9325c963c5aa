import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { textsOfDocument } from './texts-of-document.mjs';
import { textsOfSource } from './texts-of-source.mjs';
import { faultOfSubject, isVague, sentenceRules } from './rules.mjs';
import { sentencesOf } from './sentences.mjs';

const nameAdvice = 'Use a noun of the field, such as request, report, statement, snapshot or rest.';

/** @typedef {{ path: string, line: number, rule: string, found: string, advice: string }} Finding */

/**
 * Checks one file.
 * @param {string} path
 * @param {string} content
 * @returns {Finding[]}
 */
export function findingsIn(path, content) {
  const { texts, names } = path.endsWith('.md')
    ? { texts: textsOfDocument(content), names: [] }
    : textsOfSource(path, content);
  // In a file that declares `right`, `left` means a side.
  const hasSides = names.some(({ name }) => name === 'right');
  const ofNames = names
    .filter(({ name }) => isVague(name) && !(hasSides && name === 'left'))
    .map(({ name, line }) => ({ path, line, rule: 'name', found: name, advice: nameAdvice }));
  return [...texts.flatMap((text) => findingsInText(path, text)), ...ofNames];
}

/**
 * @param {string} path
 * @param {import('./texts-of-source.mjs').Text} text
 * @returns {Finding[]}
 */
function findingsInText(path, { kind, text, line }) {
  return sentencesOf(text).flatMap(({ sentence, offset }) =>
    sentenceRules.flatMap(({ name, advice, of, finds }) => {
      const found = of === undefined || of.includes(kind) ? finds(sentence, kind) : null;
      if (found === null) return [];
      const lines = text.slice(0, offset).split('\n').length - 1;
      return [{ path, line: line + lines, rule: name, found: `${found}: ${excerpt(sentence)}`, advice }];
    }),
  );
}

/** @param {string} sentence */
function excerpt(sentence) {
  return sentence.length > 100 ? `${sentence.slice(0, 99)}…` : sentence;
}

/**
 * Commit subjects since a day that break a rule. The list is empty in a checkout without history.
 * @param {string} since An ISO date.
 * @returns {string[]}
 */
export function faultsOfSubjects(since) {
  const log = execFileSync('git', ['log', `--since=${since}`, '--format=%h %s'], { encoding: 'utf8' });
  return log
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [commit = '', ...words] = line.split(' ');
      const fault = faultOfSubject(words.join(' '));
      return fault === null ? [] : [`${commit} ${fault}: ${words.join(' ')}`];
    });
}

/**
 * Written files of the repository. Generated files are left out.
 * @param {readonly string[]} folders
 * @returns {string[]}
 */
export function filesOf(folders) {
  return execFileSync('git', ['ls-files', '-z', '--', ...folders], { encoding: 'utf8' })
    .split('\0')
    .filter((path) => /\.(ts|tsx|mjs|md)$/.test(path) && !path.startsWith('docs/reference/'));
}

/**
 * @param {readonly string[]} paths
 * @returns {Finding[]}
 */
export function findingsInFiles(paths) {
  return paths.flatMap((path) => findingsIn(path, readFileSync(path, 'utf8')));
}
