import { ChainExport } from './chain-export.ts';
import { Evidence } from './evidence.ts';
import { Fault, need, present } from './fault.ts';
import { readKeys } from './keys.ts';
import { readCheckpoints } from './log.ts';
import { Witnesses } from './witnesses.ts';
import { Pack } from './pack.ts';
import { PeriodExport } from './period-export.ts';
import { readReasonCodes } from './reason-codes.ts';
import { reportOf, reportOfFault, type Report } from './report.ts';
import { Schemas } from './schema.ts';
import { isObject, parseStrict, type Json, type JsonObject } from './strict-json.ts';

type Lines = { take(line: JsonObject, text: string): void; end(): void };
type Format = { header: string; open(evidence: Evidence, header: JsonObject, text: string): Lines };

const formats: ReadonlyMap<Json | undefined, Format> = new Map<Json | undefined, Format>([
  ['countersign/chain-export.v2', { header: 'ExportHeader', open: (evidence) => new ChainExport(evidence) }],
  [
    'countersign/period-export.v1',
    { header: 'PeriodHeader', open: (evidence, header) => new PeriodExport(evidence, header) },
  ],
  [
    'countersign/evidence-pack.v1',
    { header: 'PackHeader', open: (evidence, header, text) => new Pack(evidence, header, text) },
  ],
]);

/** The texts that the page refers to: the OpenAPI description of the kernel, and the page of reason codes. */
export type References = { openApi: string; reasonCodes: string };

/**
 * A verifier by docs/verification-specification.md. Its input is the lines without line feeds, the trusted key set, and
 * optionally the text of a policy.
 */
export function createSecondVerifier({
  openApi,
  reasonCodes,
}: References): (lines: string[], keys: Json, policy?: string) => Report {
  const schemas = new Schemas(openApi);
  const verdicts = readReasonCodes(reasonCodes);
  return (lines, keys, policy) => {
    const evidence = new Evidence({ schemas, verdicts, keys: readKeys(keys) });
    if (policy !== undefined) evidence.witnesses = new Witnesses(policy);
    try {
      verifyLines(lines, evidence);
    } catch (error) {
      if (error instanceof Fault) return reportOfFault(error, evidence);
      throw error;
    }
    return reportOf(evidence);
  };
}

function verifyLines([first, ...rest]: string[], evidence: Evidence): void {
  need(first !== undefined, 'EMPTY', '12.2');
  const header = parseStrict(first);
  const { header: form, open } = present(
    formats.get(isObject(header) ? header['format'] : undefined),
    'MALFORMED',
    '11',
  );
  evidence.rules.schemas.assertForm(header, form);
  const { checkpoints, consistency } = header as { checkpoints: string[]; consistency: string[][] }; // headers of all three formats have both
  evidence.checkpoints = readCheckpoints(checkpoints, consistency, evidence.rules.keys);
  evidence.checkpoints.forEach((checkpoint, at) => evidence.witnesses?.take(checkpoints[at] ?? '', checkpoint));
  const lines = open(evidence, header, first);
  for (const text of rest) {
    evidence.line += 1;
    const line = parseStrict(text);
    need(isObject(line), 'MALFORMED', '1.7');
    lines.take(line, text);
  }
  lines.end();
}
