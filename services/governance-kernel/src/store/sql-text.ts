const lineLengthMax = 130;

/** The reserved words of PostgreSQL (`pg_get_keywords`, categories R and T), which need quotes as names. */
const reservedWords = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently
   constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default
   deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having ilike in initially inner
   intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or
   order outer overlaps placing primary references returning right select session_user similar some symmetric system_user table
   tablesample then to trailing true union unique user using variadic verbose when where window with`.split(/\s+/),
);

export function identifier(name: string): string {
  return reservedWords.has(name) ? `"${name}"` : name;
}

/**
 * Comma-separated items in lines of at most 130 characters. `start`: the column of the first line, if it is not
 * `indent`.
 */
export function list(
  items: readonly string[],
  { indent, start = indent }: { readonly indent: number; readonly start?: number },
): string {
  const lines = [''];
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item},` : item;
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? text : `${line} ${text}`;
    const before = lines.length === 1 ? start : indent;
    if (before + longer.length > lineLengthMax && line !== '') lines.push(text);
    else lines[lines.length - 1] = longer;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

/** The indented assignments of a SET clause. */
export function assignments(values: readonly (readonly [string, string])[]): string {
  const items = values.map(([column, value]) => `${identifier(column)} = ${value}`);
  return `    ${list(items, { indent: 4 })}`;
}

/** A function without a result. */
export function returning(signature: string, body: string): string {
  return `CREATE OR REPLACE FUNCTION ${signature} RETURNS void LANGUAGE plpgsql AS $$\n${body}$$;`;
}
