import type { z } from 'zod';
import type { getActivePolicy } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { Shown } from '../parts/shown.tsx';

export type ActivePolicy = z.infer<typeof getActivePolicy.reply>;

export function InForce({ policy }: { policy: ActivePolicy }) {
  const { policy_hash, epoch, owner, confirmed_at, bundle } = policy;
  return (
    <section className="card">
      <h2>In force</h2>
      <dl className="facts">
        <dt>Name</dt>
        <dd>
          <Shown text={bundle.name} />, {bundle.rules.length} rules
        </dd>
        <dt>Hash</dt>
        <dd>
          <CopyText text={policy_hash} />
        </dd>
        <dt>Owner</dt>
        <dd>
          {owner === '*'
            ? 'The installation. This workspace has no policy of its own.'
            : `This workspace, version ${epoch}`}
        </dd>
        <dt>Last confirmed</dt>
        <dd>
          <Moment at={confirmed_at} />. Without a confirmation it becomes stale, and then everything is denied.
        </dd>
      </dl>
    </section>
  );
}
