import { Verdict } from '@countersign/contracts';
import { VerdictAgain, type Changed, type PolicyDraft, type WhatIfReport } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Shown } from '../parts/shown.tsx';
import { KeepAsTest } from './keep-as-test.tsx';

type Props = { report: WhatIfReport; draft: PolicyDraft };
const shownMax = 100;

export function ReportView({ report, draft }: Props) {
  const { decisions, widened, unverifiable, missing, is_whole, examples } = report;
  const others = examples.filter(({ before, after }) => before !== after).flatMap((cell) => cell.decisions);
  const stricter = others.filter(({ receipt_id }) => !widened.some((each) => each.receipt_id === receipt_id));
  return (
    <div className="stacked">
      <p role="status">
        {decisions} decisions were decided again{is_whole ? ', all that exist' : ''}. {widened.length} become more
        permissive.
      </p>
      <Matrix matrix={report.matrix} />
      {unverifiable.count > 0 && (
        <p>{unverifiable.count} receipts do not verify. They prevent the activation of a draft.</p>
      )}
      {missing.length > 0 && (
        <p>
          Some records lack these values, because the earlier policy did not read them:{' '}
          <Shown text={missing.map(({ field, decisions: count }) => `${field} (${count})`).join(', ')} />
        </p>
      )}
      <ChangedTable title="More permissive" changed={widened} draft={draft} />
      <ChangedTable title="Other differences" changed={stricter} draft={draft} />
    </div>
  );
}

function Matrix({ matrix }: Pick<WhatIfReport, 'matrix'>) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Verdicts before and after">
      <table>
        <thead>
          <tr>
            <th>Before</th>
            {VerdictAgain.options.map((after) => (
              <th key={after}>{after} after</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Verdict.options.map((before) => (
            <tr key={before}>
              <th scope="row">{before}</th>
              {VerdictAgain.options.map((after) => (
                <td key={after}>{matrix[before][after]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ChangedTable({ title, changed, draft }: { title: string; changed: Changed[]; draft: PolicyDraft }) {
  if (changed.length === 0) return null;
  return (
    <>
      <h3>
        {title}: {changed.length}
        {changed.length > shownMax ? `, the newest ${shownMax}` : ''}
      </h3>
      <div className="table-box" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th>Call</th>
              <th>Before</th>
              <th>After</th>
              <th className="wide">Rules</th>
              <th>Receipt</th>
              <th>Test</th>
            </tr>
          </thead>
          <tbody>
            {changed.slice(0, shownMax).map((each) => (
              <tr key={each.receipt_id}>
                <td>
                  <Shown text={each.tool ?? each.action} />
                </td>
                <td>{each.before}</td>
                <td>{each.after}</td>
                <td className="wide">
                  <Shown text={each.rules.join(', ') || each.missing.join(', ') || 'none'} />
                </td>
                <td>
                  <CopyText text={each.receipt_id} />
                </td>
                <td>
                  <KeepAsTest example={{ ...each, verdict: each.before }} draft={draft} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
