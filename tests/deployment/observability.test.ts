import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ReasonCode } from '@countersign/contracts';

type Alert = { alert: string; expr: string; annotations: { summary: string; action: string } };
type Panel = { title: string; targets: { expr: string }[] };

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const alerts = (parse(text('infra/observability/alerts.yaml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const { panels } = JSON.parse(text('infra/observability/dashboard.json')) as { panels: Panel[] };
const expressions = [
  ...alerts.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

describe('alerts and panels', () => {
  it('use only measures in the table of docs/telemetry.md, and existing reason codes', () => {
    const reported = new Set(text('docs/telemetry.md').match(/countersign_\w+/g));
    const named = expressions.flatMap((expr) => expr.match(/countersign_\w+/g) ?? []);
    const isTold = (name: string) => reported.has(name) || reported.has(name.replace(/_(bucket|count|sum)$/, ''));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !isTold(name))).toEqual([]);
    const codes = expressions.flatMap((expr) => /reason_code=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    expect(codes.filter((code) => !ReasonCode.safeParse(code).success)).toEqual([]);
  });

  it('describe the next step to the person on call', () => {
    expect(alerts.filter(({ annotations }) => annotations.summary === '' || annotations.action === '')).toEqual([]);
  });
});
