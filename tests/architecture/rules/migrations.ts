/** Statements that remove something that an old version of a service may still use. */
const takesAway = [
  /\bDROP\s+(?:TABLE|COLUMN|FUNCTION|VIEW|TYPE|DEFAULT)\b/gi,
  /\bRENAME\b/gi,
  /\bSET\s+NOT\s+NULL\b/gi,
  /\bALTER\s+COLUMN\s+"?\w+"?\s+(?:SET\s+DATA\s+)?TYPE\b/gi,
  /\bADD\s+COLUMN\s+(?:(?!DEFAULT|GENERATED|,)[^;])*\bNOT\s+NULL\b(?:(?!DEFAULT|GENERATED|,)[^;])*(?=[,;]|$)/gi,
];

/** A new constraint on an existing table, which writes of the old version may break. */
const addedRule = /\bALTER\s+TABLE\s+(?:ONLY\s+)?"?(\w+)"?\s[^;]*?\bADD\s+CONSTRAINT\s+"?\w+"?/gi;

/**
 * The comment in a migration that explains why running versions do not need the removed objects or break the new
 * constraints.
 */
const contracts = /^-- contract: \S/m;

/**
 * While pods are replaced, an old and a new version use one database. A migration therefore adds (expand). It removes
 * or narrows only what the last release no longer used (contract).
 */
export function migrationOnlyAdds(path: string, sql: string): string[] {
  if (contracts.test(sql)) return [];
  const statements = sql.replace(/--.*$/gm, '').replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '');
  const created = new Set([...statements.matchAll(/\bCREATE\s+TABLE\s+"?(\w+)"?/gi)].map(([, table]) => table));
  const narrowed = [...statements.matchAll(addedRule)]
    .filter(([, table]) => !created.has(table))
    .map(([found]) => found);
  const taken = takesAway.flatMap((pattern) => statements.match(pattern) ?? []);
  return [...taken, ...narrowed].map((found) => `${path}: ${found.trim()}`);
}
