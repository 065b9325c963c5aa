import type { Finding } from '@countersign/contracts/governance-kernel';
import type { PinnedDefinition } from '../../registry/tool-definition.ts';

/** The roles of tools in a data flow, by the words of their names and descriptions. */
const deps = {
  untrusted:
    /\b(?:fetch|browse|scrape|crawl|web ?page|url|website|inbox|incoming|search the web|issues?|comments?|rss|feed)\b/,
  private:
    /\b(?:read|get|list|query|search|open)\b.{0,48}\b(?:files?|database|customers?|contacts?|calendar|mailbox|emails?|repositor(?:y|ies)|documents?|secrets?|passwords?|notes?|records?|tables?)\b/,
  sending: /\b(?:send|post|upload|publish|forward|share|email|webhook|http request|push)\b/,
} as const;

/**
 * Detects a server whose tools together read untrusted text, read private data, and send data out. An instruction in
 * the untrusted text could exfiltrate the private data.
 */
export function combinationIn(
  tools: readonly PinnedDefinition[],
): Pick<Finding, 'kind' | 'rule' | 'severity' | 'detail'> | null {
  const texts = tools.map(({ name, description = '' }) =>
    `${name.replaceAll(/[_-]/g, ' ')} ${description}`.toLowerCase(),
  );
  const named = Object.values(deps).map((pattern) => tools[texts.findIndex((text) => pattern.test(text))]?.name);
  if (named.includes(undefined)) return null;
  const [untrusted, secret, sending] = named;
  const detail = `"${untrusted}" reads what others wrote, "${secret}" reads private data, and "${sending}" sends data out`;
  return { kind: 'dangerous_combination', rule: 'read-and-send', severity: 'low', detail };
}
