import { stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { getDecisionStats, type DecisionStats } from '@countersign/contracts/governance-kernel';
import { reasonCodes } from '@countersign/contracts';
import { CallsOverTime } from '../src/activity/calls-over-time.tsx';
import { Views } from '../src/activity/views.tsx';
import { axisTicks } from '../src/charts/axis-ticks.ts';
import { Columns } from '../src/charts/columns.tsx';
import { DecisionsChart } from '../src/charts/decisions-chart.tsx';
import { periods, rangeOf } from '../src/charts/periods.ts';
import { summed } from '../src/charts/spark.tsx';
import { reasonSays } from '../src/parts/reason-says.ts';

const hours = ['2026-11-27T10:00:00.000Z', '2026-11-27T11:00:00.000Z', '2026-11-27T12:00:00.000Z'];
const stats: DecisionStats = {
  bucket: '1h',
  buckets: hours as never, // instants
  series: [
    { key: 'ALLOW', total: 1_200, counts: [700, 500, 0] },
    { key: 'DENY', total: 3, counts: [0, 3, 0] },
  ],
  ...{ others: null, total: 1_203, tree_size: 9, complete_to: null },
};

describe('a chart of decisions', () => {
  it('is described in one sentence, and keys move through its buckets', async () => {
    const { show, user } = stage();
    show(<DecisionsChart stats={stats} period="24h" />);
    const chart = await screen.findByRole('slider', { name: /^1,203 calls in 24 hours, 3 denied, most at / });
    chart.focus();
    await user.keyboard('{ArrowLeft}');
    expect(chart.getAttribute('aria-valuetext')).toMatch(/: 500 allowed, 0 needs approval, 3 denied$/);
    await user.keyboard('{Home}{ArrowLeft}');
    expect(chart.getAttribute('aria-valuetext')).toMatch(/: 700 allowed/);
    await user.keyboard('{End}{ArrowRight}');
    expect(chart.getAttribute('aria-valuenow')).toBe('2');
  });

  it('opens the calls of a bucket', async () => {
    const { show, user } = stage();
    const opened: number[] = [];
    const series = [{ key: 'ALLOW', name: 'Allowed', fill: 'allow' as const, counts: [1, 2] }];
    show(<Columns sentence="3 calls" names={['10:00', '11:00']} series={series} onOpen={(nth) => opened.push(nth)} />);
    (await screen.findByRole('slider', { name: '3 calls' })).focus();
    await user.keyboard('{ArrowLeft}{Enter}');
    expect(opened).toEqual([0]);
  });

  it('is shown as a table on request', async () => {
    const { show, user } = stage();
    show(<DecisionsChart stats={stats} period="24h" />);
    await user.click(await screen.findByRole('button', { name: 'Show as table' }));
    const rows = within(screen.getByRole('table')).getAllByRole('row');
    expect(rows.map(({ textContent }) => textContent?.replace(/^\d\d:\d\d/, ''))).toEqual([
      'FromAllowedNeeds approvalDenied',
      ...['70000', '50003', '000'],
    ]);
  });

  it('states until when calls are counted when the counters are behind', async () => {
    const { show } = stage();
    show(<DecisionsChart stats={{ ...stats, complete_to: hours[1] as never }} period="24h" />);
    await screen.findByText(/^Counted up to /);
  });

  it('has round numbers on its axis, and few points in a small line', () => {
    expect(axisTicks(1)).toEqual([0, 1]);
    expect(axisTicks(7)).toEqual([0, 2, 4, 6, 8]);
    expect(axisTicks(183)).toEqual([0, 50, 100, 150, 200]);
    expect(summed([1, 2, 3, 4, 5], 2)).toEqual([6, 9]);
  });

  it.each(['1h', '24h', '7d', '30d'] as const)('requests whole buckets up to now: %s', (name) => {
    const now = Date.parse('2026-11-27T12:07:00.000Z');
    const { from, to } = rangeOf(name, now);
    expect(Date.parse(to) - Date.parse(from)).toBe(periods[name].hours * 3_600_000);
    expect(Date.parse(to)).toBeGreaterThanOrEqual(now);
    expect(rangeOf(name, now, { before: 1 }).to).toBe(from);
  });
});

describe('the activity page', () => {
  it('has a chart with the same filters as its list', async () => {
    const { show, peer } = stage();
    peer.answers(getDecisionStats, stats);
    show(<CallsOverTime search={{ verdict: 'DENY', tool: 'files.read' }} />, { path: '/activity' });
    await screen.findByRole('slider');
    expect(peer.requests(getDecisionStats)[0]?.query).toMatchObject({
      verdict: 'DENY',
      tool: 'files.read',
      bucket: '30m',
    });
  });

  it('has no chart of entries that are not calls', async () => {
    const { show, peer } = stage();
    show(
      <>
        <Views search={{ kind: 'policy' }} />
        <CallsOverTime search={{ kind: 'policy' }} />
      </>,
      { path: '/activity?kind=policy' },
    );
    const view = await screen.findByRole('link', { name: 'Changes to rules' });
    expect([view.getAttribute('aria-current'), peer.requests(getDecisionStats)]).toEqual(['page', []]);
  });

  it('shows each reason in words, and an unknown reason as its code', () => {
    for (const [code, { says }] of Object.entries(reasonCodes)) expect(reasonSays(code)).toBe(says);
    expect(reasonSays('OF_A_LATER_VERSION')).toBe('OF_A_LATER_VERSION');
  });
});
