import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dataId, type ReportData } from './report-data.ts';

/** Browsers hold a pack several times while they verify it. Larger packs are exported in parts. */
export const packBytesMax = 64 * 1_024 * 1_024;

/**
 * One HTML file with a pack, the keys that it is verified with, and the verifier. The policy of contents allows this script and this style by
 * their hashes and nothing else, so the page loads nothing and sends nothing. The same input gives the same bytes.
 */
export function reportHtml(data: ReportData): string {
  const { resolve } = createRequire(import.meta.url);
  const script = readFileSync(resolve('@countersign/report/page.js'), 'utf8');
  const style = readFileSync(resolve('@countersign/report/page.css'), 'utf8');
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

/** Strings of a pack are chosen by callers of the installation: without a `<` none of them ends the block. */
function dataBlock(data: ReportData): string {
  return JSON.stringify(data).replaceAll('<', String.raw`\u003c`);
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
