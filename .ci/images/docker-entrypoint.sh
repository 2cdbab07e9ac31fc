#!/bin/sh
# Entry point of the test images. It keeps the promises of the official image
# that this project relies on: POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB,
# POSTGRES_HOST_AUTH_METHOD, PGDATA, scripts in /docker-entrypoint-initdb.d,
# and arguments that go to postgres.
set -eu

for bin in /usr/lib/postgresql/*/bin; do PATH=$bin:$PATH; done
export PATH

: "${PGDATA:=/var/lib/postgresql/data}" "${POSTGRES_USER:=postgres}"
: "${POSTGRES_DB:=$POSTGRES_USER}" "${POSTGRES_PASSWORD:=}"
: "${POSTGRES_HOST_AUTH_METHOD:=scram-sha-256}"
export PGDATA POSTGRES_USER POSTGRES_DB POSTGRES_PASSWORD POSTGRES_HOST_AUTH_METHOD

case ${1:-} in
'' | -*) set -- postgres "$@" ;;
esac
[ "$1" = postgres ] || exec "$@"

if [ "$(id -u)" = 0 ]; then
	mkdir -p "$PGDATA" /var/run/postgresql
	chown postgres: "$PGDATA" /var/run/postgresql
	exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi

initialise() {
	if [ -z "$POSTGRES_PASSWORD" ] && [ "$POSTGRES_HOST_AUTH_METHOD" != trust ]; then
		echo "POSTGRES_PASSWORD is empty: set it, or POSTGRES_HOST_AUTH_METHOD=trust" >&2
		exit 1
	fi
	pwfile=$(mktemp)
	printf '%s\n' "$POSTGRES_PASSWORD" >"$pwfile"
	initdb --username="$POSTGRES_USER" --pwfile="$pwfile" --encoding=UTF8 --locale=C.UTF-8 \
		--auth-local=trust --auth-host="$POSTGRES_HOST_AUTH_METHOD" --no-sync >/dev/null
	rm "$pwfile"
	echo "host all all all $POSTGRES_HOST_AUTH_METHOD" >>"$PGDATA/pg_hba.conf"
	cat >>"$PGDATA/postgresql.conf" <<-EOF
		listen_addresses = '*'
		password_encryption = 'scram-sha-256'
		unix_socket_directories = '/var/run/postgresql'
	EOF

	# Until the first scripts are through nothing listens on TCP, so a client
	# that gets an answer there talks to the server that will stay.
	pg_ctl --wait --silent --options="-c listen_addresses=''" start >&2
	if [ "$POSTGRES_DB" != postgres ]; then
		createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
	fi
	for file in /docker-entrypoint-initdb.d/*; do
		case $file in
		*.sh) sh "$file" ;;
		*.sql) psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --file="$file" ;;
		esac
	done
	pg_ctl --wait --silent --mode=fast stop >&2
}

chmod 0700 "$PGDATA"
[ -s "$PGDATA/PG_VERSION" ] || initialise
exec "$@"
