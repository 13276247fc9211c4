package studio

import (
	"crypto/rand"
	"crypto/subtle"
	"mime"
	"net"
	"net/http"
	"slices"
)

// mostBody is the largest request [bytes].
const mostBody = 8 << 20

// guard protects the studio from other pages, users and computers. A browser sends requests for any page that it shows:
// so the names of host and origin are those of the studio, exactly, and what changes something or tells something needs
// the cookie of a session, which a page gets for the token of the address that was printed.
type guard struct {
	at     string   // HOST:PORT where the studio listens
	token  string   // of this start
	cookie string   // its name: browsers do not tell ports apart
	hosts  []string // the names of that
	next   http.Handler
}

func newGuard(at net.Addr, next http.Handler) *guard {
	_, port, _ := net.SplitHostPort(at.String())
	g := &guard{at: at.String(), token: rand.Text(), cookie: "canopy-" + port,
		next: http.NewCrossOriginProtection().Handler(next)}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		g.hosts = append(g.hosts, net.JoinHostPort(name, port))
	}
	return g
}

// address returns the address for a browser.
func (g *guard) address() string { return "http://" + g.at + "/#token=" + g.token }

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	origin := r.Header.Values("Origin")
	switch {
	case !slices.Contains(g.hosts, r.Host):
		refuse(w, http.StatusForbidden, "the address of the studio is the one that it printed")
	case len(origin) > 1, len(origin) == 1 && origin[0] != "http://"+r.Host:
		refuse(w, http.StatusForbidden, "another page must not use the studio")
	case r.Method == http.MethodPost && !isJSON(r):
		refuse(w, http.StatusUnsupportedMediaType, "requests are JSON")
	case r.URL.Path == "/api/session":
		g.begin(w, r)
	case !public[r.URL.Path] && !g.knows(r):
		refuse(w, http.StatusUnauthorized, "this page has no session: open the address that canopy studio printed")
	default:
		g.next.ServeHTTP(w, r)
	}
}

// public are the paths that tell nothing of a mission.
var public = map[string]bool{"/": true, "/studio.js": true, "/studio.css": true}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// begin begins a session for the token.
func (g *guard) begin(w http.ResponseWriter, r *http.Request) {
	var x struct{ Token string }
	switch {
	case r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, "a session begins by POST")
		return
	case !receive(w, r, &x):
		return
	case !g.is(x.Token):
		refuse(w, http.StatusUnauthorized, "the token is that of another start: open the address that canopy studio printed")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

func (g *guard) knows(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(g.cookie), func(c *http.Cookie) bool { return g.is(c.Value) })
}

// is compares a token, in a time that does not depend on it.
func (g *guard) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}
