import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { FindingKind } from '@countersign/contracts/governance-kernel';
import { scanTools } from '@countersign/governance-kernel/scan-tools';

const Tool = z.looseObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.looseObject({ type: z.literal('object') }).default({ type: 'object' }),
});

const Entry = z.object({
  id: z.string(),
  label: z.enum(['malicious', 'benign']),
  /** The kind of finding that a scan must report. */
  kind: FindingKind.optional(),
  tool: Tool,
  /** Tools of the same server. */
  beside: z.array(Tool).default([]),
  /** Tools of other servers. */
  others: z.array(z.object({ serverId: z.string(), name: z.string(), description: z.string() })).default([]),
});

const file = new URL('../../scan-corpus.json', import.meta.url);
export const corpus = z.object({ entries: z.array(Entry) }).parse(JSON.parse(readFileSync(file, 'utf8'))).entries;

/** Findings about the entry's tool or its server. Low findings are only information and are left out. */
async function findingsOf({ tool, beside, others }: (typeof corpus)[number]) {
  const findings = await scanTools([tool, ...beside], { others, pinned: new Map() });
  return findings.filter(
    (finding) =>
      finding.severity !== 'low' && (finding.tool === null || beside.every(({ name }) => finding.tool !== name)),
  );
}

/** The malicious tools that a scan misses, the benign tools that it reports, and both rates. */
export async function ratesOfScan() {
  const missed: string[] = [];
  const blamed: string[] = [];
  const malicious = corpus.filter(({ label }) => label === 'malicious');
  for (const entry of corpus) {
    const findings = await findingsOf(entry);
    if (entry.label === 'malicious' && !findings.some(({ kind }) => kind === entry.kind)) missed.push(entry.id);
    if (entry.label === 'benign' && findings.length > 0)
      blamed.push(`${entry.id} ${entry.tool.name}: ${findings.map(({ rule }) => rule).join(', ')}`);
  }
  const benign = corpus.length - malicious.length;
  return { missed, blamed, recall: 1 - missed.length / malicious.length, falsePositives: blamed.length / benign };
}
