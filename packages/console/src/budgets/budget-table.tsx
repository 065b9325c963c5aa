import { Link } from '@tanstack/react-router';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';
import { ceilingsOf, forecastOf } from './amounts.ts';

type Props = { budgets: readonly Budget[]; readAtMs: number };

/** A line for each ceiling of each budget. */
export function BudgetTable({ budgets, readAtMs }: Props) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Budgets">
      <table>
        <thead>
          <tr>
            <th>Budget</th>
            <th className="wide">For</th>
            <th>Used</th>
            <th className="number wide">In flight</th>
            <th className="number">Ceiling</th>
            <th className="number">At this pace</th>
            <th className="wide">Resets</th>
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
        <td>
          <CopyText text={id} whole />
        </td>
        <td colSpan={6} className="quiet">
          No ceiling. It counts use and may ask for approval.
        </td>
      </tr>
    );
  return ceilings.map(({ what, limit, used, reserved, show }) => {
    const forecast = forecastOf(used, budget, readAtMs);
    return (
      <tr key={what} data-id={id}>
        <td>
          <CopyText text={id} whole /> <span className="quiet">{what}</span>
        </td>
        <td className="wide">
          <Shown text={subject} />
        </td>
        <td className="budget-use">
          <span className="budget-line">
            <Link to="/activity" search={receiptsOf(subject)}>
              {show(used)}
            </Link>
            <span className={`budget-share budget-${levelOf(used + reserved, limit)}`}>
              {limit === 0 ? 100 : Math.floor(((used + reserved) / limit) * 100)} %
            </span>
          </span>
          <UseBar used={used} reserved={reserved} limit={limit} />
        </td>
        <td className="number wide">{show(reserved)}</td>
        <td className="number">
          {show(limit)} {used + reserved >= limit && <Mark tone="bad">used up</Mark>}
        </td>
        <td className="number">
          {forecast === null ? '–' : show(forecast)}{' '}
          {forecast !== null && forecast > limit && <Mark tone="wait">above it</Mark>}
        </td>
        <td className="tight wide">{resets_at === null ? 'never' : <Moment at={resets_at} />}</td>
      </tr>
    );
  });
}

/** Over three quarters it is amber, over nine tenths red. */
function levelOf(used: number, limit: number): 'calm' | 'high' | 'full' {
  const share = limit === 0 ? 1 : used / limit;
  if (share > 0.9) return 'full';
  return share > 0.75 ? 'high' : 'calm';
}

/** The use so far, and behind it what calls in flight may still use. The numbers beside it are text, so the bar is decoration. */
function UseBar({ used, reserved, limit }: { used: number; reserved: number; limit: number }) {
  const width = (amount: number) => (limit === 0 ? 100 : Math.min(100, (amount / limit) * 100));
  return (
    <svg className="budget-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className="budget-held" width={width(used + reserved)} height="1" />
      <rect className={`budget-fill-${levelOf(used + reserved, limit)}`} width={width(used)} height="1" />
    </svg>
  );
}

/** The calls that a budget is about, as the page of receipts finds them. */
function receiptsOf(subject: string): { agent?: string; tool?: string } {
  const [kind = '', ...rest] = subject.split(':');
  if (kind === 'tool') return { tool: rest.join(':') };
  return kind === 'tenant' ? {} : { agent: rest.join(':') };
}
