/**
 * The normalised address without the workspace name, which only this gateway reads. Some servers accept other
 * spellings of an address (a leading origin, a backslash, a fragment). After normalisation, the other service reads
 * the path that was matched here.
 */
export function forwardedUrl(url: string): string {
  const [path = '', ...rest] = plain(url).split('?');
  if (rest.length === 0) return path;
  const query = rest.join('?').split('&');
  const kept = query.filter((member) => nameOf(member) !== 'workspaceId');
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** In absolute form (RFC 9112 §3.2.2) the stated origin is ignored. */
function plain(url: string): string {
  const [local = ''] = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split('#');
  return local.replaceAll('\\', '%5C');
}

function nameOf(member: string): string {
  const [name = ''] = member.split('=');
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name; // the other service refuses an invalid encoding
  }
}
