import { requirements } from './export-report.ts';

/** The help text of the command. */
export const usageText = `Usage: countersign-verify <export> --keys <keys.json> [options]
       countersign-verify --audit <export> [--workspace <id>] [--head <sha256:…>] [--json]
       countersign-verify --conformance <proof> --keys <keys.json> [--vectors <sha256:…>] [--origin <line>] [--json]

Verifies offline an evidence pack (countersign/evidence-pack.v1), the export of a session (countersign/chain-export.v2) or of a period (countersign/period-export.v1), the audit log of a
workspace or a person (countersign/audit-export.v1 and v2), or the proof of a conformance run (countersign/conformance-proof.v1). <export> is a file, or - for
the standard input; <proof> is a file. Each kind has its own options, and any other option is refused. Only --head and --contains may be repeated.

For an export:
  --keys <file>       the keys you trust, as /api/v1/trust/keys serves them; keep your own copy
  --root <key>        for a trust list (trust.json) in --keys: the root key that you pinned, in base64url
  --trust-version <n> refuse a trust list of an earlier version than the one you saw
  --tenant <id>       refuse receipts of any other tenant
  --session <id>      refuse receipts of any other session
  --from <instant>    refuse all but the export or the pack of a period that begins at this instant, such as 2026-11-01T00:00:00.000Z
  --to <instant>      the same for the end of the period
  --origin <line>     refuse checkpoints of any other log
  --head <sha256:…>   a chain must end with this receipt, or a session's part of a period
  --contains <sha256:…>  the export must contain this receipt
  --sessions <list>   the export must contain a receipt of each of these sessions, separated by commas
  --beside <export>   an earlier export of the same log: both must agree, and none of its receipts in scope may be missing
  --policy <file>     a policy of witnesses (c2sp.org/tlog-policy): its quorum must have cosigned the log with every receipt
  --partial           the export is a part of a session, not of a period: it may begin late and end early
  --require <list>    the answers that VERIFIED requires, of ${requirements.join(',')}; default: all; --head, --contains, --sessions and --beside need completeness, and --policy needs time
For an audit log:
  --audit             the export is an audit log
  --workspace <id>    refuse the log of any other workspace or person
  --head <sha256:…>   the log must contain this entry
For a conformance run, with --keys, --root, --trust-version and --origin as above:
  --conformance       the file is the proof of a conformance run
  --vectors <sha256:…>  refuse a run of any other vectors
For all:
  --json              print the report as JSON
  --help, --version

Exit status: 0 all required answers are verified, 1 not verified, 2 could not run, 3 nothing is wrong but something is missing,
4 undecidable: a key is unknown, or a line or proof is too large. For a conformance run: 0 the run passed, and its proof verifies.
`;
