import { requirements } from './export-report.ts';

/** The command's description of itself. */
export const usageText = `Usage: countersign-verify <export> --keys <keys.json> [options]
       countersign-verify --audit <export> [--workspace <id>] [--head <sha256:…>] [--json]
       countersign-verify --conformance <proof> --keys <keys.json> [--vectors <sha256:…>] [--origin <line>] [--json]

Verifies offline an evidence pack (countersign/evidence-pack.v1), the export of a session (countersign/chain-export.v2) or of a period (countersign/period-export.v1), the audit log of a
workspace or a person (countersign/audit-export.v1 and v2), or what a conformance run left (countersign/conformance-proof.v1). <export> is a file, or - for
the standard input; <proof> is a file. Each takes its own options, once; only --head and --contains may be repeated. Any other is refused, never passed over.

For an export:
  --keys <file>       the keys you trust, as /api/v1/trust/keys serves them; keep your own copy
  --root <key>        --keys is a trust list (trust.json): the root key that signed it, which you pinned, in base64url
  --trust-version <n> refuse a trust list of an earlier version than the one you saw
  --tenant <id>       refuse receipts of any other tenant
  --session <id>      refuse receipts of any other session
  --from <instant>    refuse what is not the export of a period that begins then, such as 2026-11-01T00:00:00.000Z
  --to <instant>      the same for the end of the period
  --origin <line>     refuse checkpoints of any other log
  --head <sha256:…>   a chain must end with this receipt, or a session's part of a period
  --contains <sha256:…>  this receipt must be there
  --sessions <list>   a receipt of each of these sessions must be there, separated by commas
  --beside <export>   an earlier export of the same log: what both are about must be the same, and nothing of it may be gone
  --partial           the export is a part of a session, and of no period: it may begin late and end early
  --require <list>    what VERIFIED must say, of ${requirements.join(',')}; all unless given; --head, --contains, --sessions and --beside need completeness
Of an audit log:
  --audit             the export is one
  --workspace <id>    refuse the log of any other workspace or person
  --head <sha256:…>   the log must hold this entry, which was noted earlier
For a conformance run, with --keys, --root, --trust-version and --origin as above:
  --conformance       it is the proof of one
  --vectors <sha256:…>  refuse a run of any other vectors
Of each:
  --json              print the report as JSON
  --help, --version

Exit status: 0 all that was required is verified, 1 not verified, 2 could not run, 3 nothing is wrong and something is missing,
4 undecidable: a key is unknown, or a line or proof too large. For a conformance run: 0 it passed, and that is proven.
`;
