import { setImmediate as nextTurn } from 'node:timers/promises';
import { jsonDifferences } from '@countersign/contracts';
import type { Finding } from '@countersign/contracts/governance-kernel';
import { forTerminal } from '@countersign/verifier';
import type { PinnedDefinition } from '../../registry/tool-definition.ts';
import { isAlike, mixesScripts, similarity } from './alike-names.ts';
import { claimsOf } from './claims.ts';
import { combinationIn } from './combinations.ts';
import { encodedIn } from './encoded-text.ts';
import { hiddenIn } from './hidden-text.ts';
import { instructionsIn } from './instructions-in.ts';
import { exampleOfSecret, secretPatterns } from './scan-rules.ts';
import { textsOf, type ToolText } from './texts-of.ts';

/** A tool of another server of the tenant. */
export type OtherTool = { serverId: string; name: string; description: string };

type Around = {
  others: readonly OtherTool[];
  /** The definitions that were approved, by name. */
  pinned: ReadonlyMap<string, PinnedDefinition>;
};

/** No honest text is longer, and every rule reads each text. */
const textLengthMax = 20_000;
const findingsMax = 1_000;
const excerptLengthMax = 200;
/** From this similarity on, two descriptions count as equal. */
const sameDescription = 0.8;

/** The findings about these tools, at most `findingsMax`. Other requests are served between two tools. */
export async function scanTools(tools: readonly PinnedDefinition[], around: Around): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const tool of tools) {
    findings.push(...scanTool(tool, { ...around, tools }));
    if (findings.length >= findingsMax) break;
    await nextTurn();
  }
  const combination = combinationIn(tools);
  if (combination !== null) findings.push({ ...combination, tool: null, member: null, excerpt: null });
  return findings.slice(0, findingsMax);
}

type Report = Pick<Finding, 'kind' | 'rule' | 'severity' | 'detail'> & { member: string | null; excerpt?: string };

function scanTool(tool: PinnedDefinition, around: Around & { tools: readonly PinnedDefinition[] }): Finding[] {
  const reports = [
    ...textsOf(tool).flatMap(scanText),
    ...claimsOf(tool),
    ...nameReports(tool, around),
    ...driftOf(tool, around.pinned.get(tool.name)),
  ];
  return reports.map(({ excerpt, ...report }: Report) => ({
    ...report,
    tool: shown(tool.name),
    excerpt: excerpt === undefined ? null : shown(excerpt),
  }));
}

function scanText({ member, text }: ToolText): Report[] {
  if (text.length > textLengthMax)
    return [
      {
        kind: 'hidden_text',
        rule: 'too-long',
        severity: 'high',
        detail: `Has more than ${textLengthMax} characters, which were not read`,
        member,
      },
    ];
  const encoded = encodedIn(text);
  return [
    ...hiddenIn(text).map((hidden) => ({ kind: 'hidden_text' as const, ...hidden, member, excerpt: text })),
    ...instructionsIn(text).map(({ rule, excerpt, isQuoted }) => {
      const { id, kind, severity, detail } = rule;
      return { kind, rule: id, severity: isQuoted ? ('low' as const) : severity, detail, member, excerpt };
    }),
    ...(encoded === null ? [] : [encodedReport(encoded, member)]),
    ...secretsIn({ member, text }),
  ];
}

function encodedReport({ form, decoded }: { form: string; decoded: string }, member: string): Report {
  return {
    kind: 'encoded_payload',
    rule: form,
    severity: 'high',
    detail: `Has text in ${form} that instructs a model or runs a program`,
    member,
    excerpt: decoded,
  };
}

/** The secret itself is omitted, since many people read a report. */
function secretsIn({ member, text }: ToolText): Report[] {
  return secretPatterns.flatMap(({ id, pattern }): Report[] => {
    const found = pattern.exec(text)?.[0];
    if (found === undefined || exampleOfSecret.test(found)) return [];
    return [
      {
        kind: 'embedded_secret',
        rule: id,
        severity: 'high',
        detail: 'Has what looks like a secret',
        member,
        excerpt: `${found.slice(0, 8)}…`,
      },
    ];
  });
}

function nameReports(
  { name, description = '' }: PinnedDefinition,
  { tools, others }: Around & { tools: readonly PinnedDefinition[] },
): Report[] {
  const at = { member: 'name', excerpt: name };
  const alike =
    tools.find((candidate) => isAlike(name, candidate.name))?.name ??
    others.find((candidate) => isAlike(name, candidate.name))?.name;
  const twin = others.find(
    (candidate) => candidate.name === name && similarity(candidate.description, description) >= sameDescription,
  );
  return [
    ...(mixesScripts(name)
      ? [
          {
            kind: 'look_alike' as const,
            rule: 'mixed-scripts',
            severity: 'high' as const,
            detail: 'The name mixes letters of several scripts',
            ...at,
          },
        ]
      : []),
    ...(alike === undefined
      ? []
      : [
          {
            kind: 'look_alike' as const,
            rule: 'alike',
            severity: 'high' as const,
            detail: `The name can be mistaken for "${shown(alike)}"`,
            ...at,
          },
        ]),
    ...(twin === undefined
      ? []
      : [
          {
            kind: 'shadowing' as const,
            rule: 'same-tool',
            severity: 'medium' as const,
            detail: `The server "${twin.serverId}" has a tool of this name and description`,
            ...at,
          },
        ]),
    ...othersNamed(description, others, name),
  ];
}

const redirecting = /\b(?:instead|before|after|when|whenever|every|always|must|first|replaces?|rather)\b/;

/** Detects a description that states when to call another server's tool. */
function othersNamed(description: string, others: readonly OtherTool[], own: string): Report[] {
  const text = description.toLowerCase();
  if (!redirecting.test(text)) return [];
  const named = others.find(({ serverId, name }) => name !== own && isNamed(text, { serverId, name }));
  if (named === undefined) return [];
  const detail = `The description directs calls of "${shown(named.name)}", which is a tool of the server "${named.serverId}"`;
  return [
    {
      kind: 'shadowing',
      rule: 'directs-another',
      severity: 'high',
      detail,
      member: 'description',
      excerpt: description,
    },
  ];
}

/** Whether the text names the tool. A name that may be a common word counts only together with its server. */
function isNamed(text: string, { serverId, name }: Pick<OtherTool, 'serverId' | 'name'>): boolean {
  const lower = name.toLowerCase();
  const names = /[_.\-\d]/.test(lower)
    ? [lower, `${serverId}.${lower}`, `${serverId}__${lower}`]
    : [`${serverId}.${lower}`, `${serverId}__${lower}`];
  return names.some((word) => word.length >= 5 && text.includes(word));
}

function driftOf(tool: PinnedDefinition, pinned: PinnedDefinition | undefined): Report[] {
  if (pinned === undefined) return [];
  return jsonDifferences(pinned, tool).map(({ path, before, after }) => ({
    kind: 'drift' as const,
    rule: 'changed',
    severity: 'medium' as const,
    detail: 'Differs from the approved definition',
    member: path,
    excerpt: `${before ?? 'nothing'} -> ${after ?? 'nothing'}`,
  }));
}

function shown(text: string): string {
  const escaped = forTerminal(text);
  return escaped.length > excerptLengthMax ? `${escaped.slice(0, excerptLengthMax - 1)}…` : escaped;
}
