import { changedTests } from './changed-tests.mjs';
import { filesByLevel } from './levels.mjs';

/**
 * @param {{ level?: string | undefined, changed?: boolean, paths: string[] }} wanted
 * @returns {[level: string, files: string[]][]} from cheap to expensive, without levels that have no file
 */
export function wantedFiles({ level, changed = false, paths }) {
  const affected = changed ? changedTests() : undefined;
  const isWanted = (file) =>
    (affected === undefined || affected.has(file)) && (paths.length === 0 || paths.some((path) => file.includes(path)));
  const byLevel = [...filesByLevel()].map(([name, files]) => [name, files.filter(isWanted)]);
  return byLevel.filter(([name, files]) => (level === undefined || level === name) && files.length > 0);
}
