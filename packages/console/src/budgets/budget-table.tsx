import { Link } from '@tanstack/react-router';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { ceilingsOf, forecastOf } from './amounts.ts';

type Props = { budgets: readonly Budget[]; readAtMs: number };

/** One row for each limit of each budget. */
export function BudgetTable({ budgets, readAtMs }: Props) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Budgets">
      <table className="cards">
        <thead>
          <tr>
            <th>Budget</th>
            <th>For</th>
            <th>Used</th>
            <th className="number">In flight</th>
            <th className="number">Ceiling</th>
            <th className="number">At this pace</th>
            <th>Resets</th>
          </tr>
        </thead>
        <tbody>
          {budgets.map((budget) => (
            <Rows key={budget.budget_id} budget={budget} readAtMs={readAtMs} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Rows({ budget, readAtMs }: { budget: Budget; readAtMs: number }) {
  const { budget_id: id, subject, resets_at } = budget;
  const ceilings = ceilingsOf(budget);
  if (ceilings.length === 0)
    return (
      <tr data-id={id}>
        <td data-name="Budget">
          <CopyText text={id} whole />
        </td>
        <td colSpan={6} className="quiet" data-name="Used">
          No ceiling. This budget counts use and may require approval.
        </td>
      </tr>
    );
  return ceilings.map(({ what, limit, used, reserved, show }) => {
    const forecast = forecastOf(used, budget, readAtMs);
    return (
      <tr key={what} data-id={id}>
        <td data-name="Budget">
          <span>
            <CopyText text={id} whole /> <span className="quiet">{what}</span>
          </span>
        </td>
        <td data-name="For">
          <SubjectName subject={subject} />
        </td>
        <td className="budget-use" data-name="Used">
          <div>
            <span className="budget-line">
              <Link to="/activity" search={receiptsOf(subject)}>
                {show(used)}
              </Link>
              <span className={`budget-share budget-${levelOf(used + reserved, limit)}`}>
                {limit === 0 ? 100 : Math.floor(((used + reserved) / limit) * 100)} %
              </span>
            </span>
            <UseBar used={used} reserved={reserved} limit={limit} />
          </div>
        </td>
        <td className="number" data-name="In flight">
          {show(reserved)}
        </td>
        <td className="number" data-name="Ceiling">
          <span>
            {show(limit)} {used + reserved >= limit && <Mark tone="bad">used up</Mark>}
          </span>
        </td>
        <td className="number" data-name="At this pace">
          <span>
            {forecast === null ? '–' : show(forecast)}{' '}
            {forecast !== null && forecast > limit && <Mark tone="wait">above it</Mark>}
          </span>
        </td>
        <td className="tight" data-name="Resets">
          {resets_at === null ? 'never' : <Moment at={resets_at} />}
        </td>
      </tr>
    );
  });
}

/** The subject of a budget: the whole workspace, an agent or a tool. */
function SubjectName({ subject }: { subject: string }) {
  const [kind = '', ...rest] = subject.split(':');
  if (kind === 'tenant' && rest.length === 0) return 'Whole workspace';
  const word = subjectWords[kind];
  if (word === undefined || rest.length === 0) return <Shown text={subject} />;
  return (
    <span title={subject}>
      {word} <Shown text={rest.join(':')} />
    </span>
  );
}

const subjectWords: Readonly<Record<string, string>> = { agent: 'Agent', principal: 'Agent', tool: 'Tool' };

/** The bar is amber above three quarters of the limit, and red above nine tenths. */
function levelOf(used: number, limit: number): 'calm' | 'high' | 'full' {
  const share = limit === 0 ? 1 : used / limit;
  if (share > 0.9) return 'full';
  return share > 0.75 ? 'high' : 'calm';
}

/**
 * A bar of the used amount, and behind it the amount that calls in flight may still use. The numbers beside it are
 * text, so the bar is decoration.
 */
function UseBar({ used, reserved, limit }: { used: number; reserved: number; limit: number }) {
  const width = (amount: number) => (limit === 0 ? 100 : Math.min(100, (amount / limit) * 100));
  return (
    <svg className="budget-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className="budget-held" width={width(used + reserved)} height="1" />
      <rect className={`budget-fill-${levelOf(used + reserved, limit)}`} width={width(used)} height="1" />
    </svg>
  );
}

/** The filters of the activity page that show the calls of a budget. */
function receiptsOf(subject: string): { agent?: string; tool?: string } {
  const [kind = '', ...rest] = subject.split(':');
  if (kind === 'tool') return { tool: rest.join(':') };
  return kind === 'tenant' ? {} : { agent: rest.join(':') };
}
