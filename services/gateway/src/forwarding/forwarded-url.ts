/**
 * The address without the name of the workspace, which is for this door alone, and in one form. Some readers accept
 * other spellings of an address (an origin before it, a backslash, a fragment). They are normalised, so that the other
 * service reads the path that was matched here and no other.
 */
export function forwardedUrl(url: string): string {
  const [path = '', ...rest] = plain(url).split('?');
  if (rest.length === 0) return path;
  const query = rest.join('?').split('&');
  const kept = query.filter((member) => nameOf(member) !== 'workspaceId');
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** In absolute form (RFC 9112 §3.2.2) the origin is ours, whatever it says. */
function plain(url: string): string {
  const [local = ''] = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split('#');
  return local.replaceAll('\\', '%5C');
}

function nameOf(member: string): string {
  const [name = ''] = member.split('=');
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name; // the other service refuses what is no encoding
  }
}
