import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dataId, type ReportData } from './report-data.ts';

/** The path is the same from `src`, from `dist`, and from the packed command. */
const bundle = new URL('../dist/bundle/', import.meta.url);

/** Browsers need several times the size of a pack in memory to verify it. Larger packs are exported in parts. */
export const packBytesMax = 64 * 1_024 * 1_024;

/**
 * One HTML file with a pack, its verification keys, and the verifier. The content security policy allows only this
 * script and this style by their hashes, so the page loads nothing and sends nothing. The same input gives the same
 * bytes.
 */
export function reportHtml(data: ReportData): string {
  const script = readFileSync(new URL('page.js', bundle), 'utf8');
  const style = readFileSync(new URL('page.css', bundle), 'utf8');
  if (/<\/script|<!--/i.test(script)) throw new Error('The script of the page contains markup that would end it');
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evidence report</title>
<style>${style}</style>
</head>
<body>
<main id="report"><p>This report verifies itself in the browser. Allow scripts for this file.</p></main>
<script type="application/json" id="${dataId}">${dataBlock(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/**
 * Callers of the installation choose strings in a pack. Each `<` is escaped, so that no such string can end the data
 * block.
 */
function dataBlock(data: ReportData): string {
  return JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
