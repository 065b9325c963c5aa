import { Link } from '@tanstack/react-router';
import { DecisionTable } from '../parts/decision-table.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useLatest } from './use-latest.ts';

export function LatestDecisions() {
  const receipts = useLatest();
  return (
    <section aria-label="Latest decisions">
      <div className="section-head">
        <h2>Latest decisions</h2>
        <Link to="/activity">Activity</Link>
      </div>
      <Loaded query={receipts}>
        {({ data }) =>
          data.length === 0 ? <p className="quiet">Listening for the first call.</p> : <DecisionTable receipts={data} />
        }
      </Loaded>
    </section>
  );
}
