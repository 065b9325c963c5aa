/** Whether an Accept-Encoding header (RFC 9110 §12.5.3; attacker-controlled) names gzip. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((coding) => /^\s*gzip\s*(;\s*q=(1(\.0{0,3})?|0\.\d{0,2}[1-9]\d{0,2})\s*)?$/i.test(coding));
}
