//! Passwords on command lines, where an option of one program binds them and not a name.
//!
//! The keyword is the program. The pattern is searched in its arguments; where it ends, the password begins. Options that
//! are called after a password (`--password`) are found by their name and need no row here.

use crate::rule::Check::{Least, Mixed, NotPlain, NotProse, NotSign, Real};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::option("mysql-option", "Password glued to an option of a MySQL client", &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlpump", "mysqlsh", "mariadb", "mariadb-dump", "mariadb-admin", "mycli ", "mydumper"],
        r"-p()").checks(&[Real])
        .hits(&["mysql -u root -p<a9> shop", "mysqldump -h db -uroot -psunshine shop > x.sql", "mysql -p'<a9>'"]).misses(&["mysql -u root -p shop", "mysql -p$PASS", "mysql --port 3306"]),
    Rule::option("archive-option", "Password glued to an option of an archiver", &["7z ", "7za ", "7zr ", "rar ", "unrar"], r"-(?:hp|p)()").checks(&[Real])
        .hits(&["7z a -p<a9> x.7z dir"]).misses(&["7z x a.7z"]),
    Rule::option("zip-option", "Password of a zip archive", &["zip ", "unzip", "funzip", "zipcloak"], r"-P[ =]?()").checks(&[Real]).hits(&["unzip -P <a9> x.zip"]).misses(&["unzip -p x.zip"]),
    Rule::option("sshpass", "Password for sshpass", &["sshpass"], r"-p[ =]?()").checks(&[Real])
        .hits(&["sshpass -p '<a9>' ssh host", "sshpass -p<a9> ssh host", "sshpass -p sunshine ssh host"]).misses(&["sshpass -p $PASS ssh host", "sshpass -p", "sshpass -e ssh host"]),
    Rule::option("user-option", "Password after the user name of a web client", &["curl ", "wget ", "http ", "https ", "xh ", "ab ", "siege ", "hey ", "wrk ", "lynx "],
        r#"(?:-[a-zA-Z]{0,4}u|-U|--user|--proxy-user|-a|-A|--auth|--http-user|--basic)(?:[ =,]|{q}){0,4}[^\s:"'`\x11-\x14\x17/]{0,64}:()"#).checks(&[Real])
        .hits(&["curl -u bob:<a9> https://example.org", "curl -s --user \"bob:<a9>\" https://example.org", "curl -sSLu bob:sunshine https://example.org", "http -a bob:<a9> example.org"])
        .misses(&["docker run -u 1000:1000 image", "curl -u bob https://example.org", "curl -u $USER:$PASS https://example.org", "chown --user bob:staff"]),
    Rule::option("short-password-option", "Password after a short option", &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat", "cqlsh", "rdesktop", "evil-winrm", "crackmapexec", "netexec", "nxc ", "elasticsearch-users", "impacket", "influx", "kinit", "odbcinst", "pscp", "plink", "psftp", "winexe", "jcmd", "snowsql", "vsql", "hydra", "usermod", "useradd"],
        r"-(?:pw|p|P|w)(?:[ =,]|{q}){0,4}()").checks(&[Real]).hits(&["mongosh -u root -p <a9> db", "plink -pw sunshine host"]).misses(&["mongosh --port 27017"]),
    Rule::command("login-option", "Password of a registry or a cloud", &["docker", "podman", "nerdctl", "buildah", "skopeo", "helm ", "oc ", "az ", "crane ", "oras ", "ibmcloud", "cf ", "heroku", "npm ", "gcloud", "argocd", "rosa ", "jf "],
        r"\blogin\b[^\n]{0,160}?(?:[\s,]|{q})-p(?:[ =,]|{q}){1,4}()").checks(&[Real]).hits(&["docker login -u bob -p <a9> registry.example.org"]).misses(&["docker run -p 8080:80 image"]),
    Rule::option("ldap-option", "Password of an LDAP client", &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami", "ldapcompare"], r"-[ws](?:[ =,]|{q}){0,4}()").checks(&[Real])
        .hits(&["ldapsearch -x -D cn=admin -w <a9> -b dc=x"]).misses(&["ldapsearch -W -x"]),
    Rule::option("samba-option", "Password of an SMB client", &["smbclient", "rpcclient", "smbmap", "smbget", "wmic", "nmblookup", "net "], r#"-U[ =]?{q}?[^\s%"'`]{1,64}%()"#).checks(&[Real]).hits(&["smbclient //h/s -U bob%<a9>"]).misses(&["smbclient -U bob //h/s"]),
    Rule::command("net-use", "Password of a network drive", &["net use"], r"(?:/user:\S+[ \t]+()|\\\\\S+[ \t]+(?:()[^\s/]))").checks(&[Real]).hits(&["net use z: \\\\h\\s /user:bob <a9>"]),
    Rule::command("redis-option", "Password of a Redis client", &["redis-cli", "valkey-cli", "redis-benchmark", "keydb-cli"], r"(?:(?:[\s,]|{q})(?:-a|--pass[ =,])(?:[ =,]|{q}){0,4}|\b(?:AUTH|auth|requirepass|masterauth)[ \t]+(?:default[ \t]+)?)()").checks(&[Real])
        .hits(&["redis-cli -a <a9> ping", "redis-cli AUTH sunshine"]).misses(&["redis-cli ping"]),
    Rule::command("openssl-option", "Passphrase for OpenSSL", &["openssl"], r"(?:pass:|(?:[\s,]|{q})-(?:k|K|hmac|macopt (?:hex)?key:|passwd|password|psk|srppass)[ =])()").checks(&[Real])
        .hits(&["openssl rsa -in a.key -passin pass:<a9>", "openssl enc -aes-256-cbc -k sunshine -in a"]).misses(&["openssl version"]),
    Rule::option("keystore-option", "Password of a Java key store", &["keytool", "jarsigner", "apksigner", "java "], r"-{1,2}(?:(?:store|key|deststore|srcstore|destkey|srckey|new|keystore|ks|truststore)-?pass(?:wd|word)?)(?:[ =:,]|{q}){1,4}(?:pass:)?()").checks(&[Real])
        .hits(&["keytool -list -storepass <a9>"]).misses(&["keytool -list"]),
    Rule::option("sql-server-option", "Password of a client of SQL Server or Sybase", &["sqlcmd", "bcp ", "isql", "tsql", "osql", "ipmitool", "mosquitto_pub", "mosquitto_sub", "vncviewer", "ncat"], r"-(?:P|pw)(?:[ =,]|{q}){0,4}()").checks(&[Real])
        .hits(&["sqlcmd -S db -U sa -P <a9>", "mosquitto_pub -u bob -P sunshine -t a -m b"]).misses(&["sqlcmd -E"]),
    Rule::command("oracle-login", "Password of an Oracle client", &["sqlplus", "impdp", "expdp", "rman", "sqlldr", "exp ", "imp "], r#"\A(?:[ \t]+(?:-\w+|target|userid=?))*(?:[ \t=]|{q})+[A-Za-z][\w$.]{0,40}/([^@\s"'`/\x11-\x14\x17]{1,64})(?:@|[ \t]|{q}|\z)"#).checks(&[Real]).hits(&["sqlplus scott/<a9>@db"]).misses(&["sqlplus /nolog"]),
    Rule::option("remote-desktop-option", "Password of a remote desktop client", &["xfreerdp", "xfreerdp3", "wfreerdp", "mstsc", "cmdkey", "psexec", "wmiexec", "schtasks", "sc.exe"], r"[/-](?:p|pass|password|rp)[: =]()").checks(&[Real]).hits(&["xfreerdp /u:bob /p:<a9> /v:host", "cmdkey /add:h /user:bob /pass:sunshine"]),
    Rule::command("htpasswd", "Password in a call of htpasswd", &["htpasswd"], r"(?:[ \t]-\w*b\w*[ \t]+(?:-\w+[ \t]+)*(?:[^\s-]\S*[ \t]+){2}|[ \t]-\w*nb\w*[ \t]+\S+[ \t]+)()").checks(&[Real]).hits(&["htpasswd -bc file bob <a9>"]).misses(&["htpasswd -c file bob"]),
    Rule::option("ftp-login", "Password of a file transfer client", &["lftp", "ncftp", "ncftpput", "ncftpget"], r#"-(?:u[ =]?{q}?[^\s,"'`]{1,64},|p[ =])()"#).checks(&[Real]).hits(&["lftp -u bob,<a9> host"]),
    Rule::option("snmp-option", "Community or passphrase of an SNMP client", &["snmpwalk", "snmpget", "snmpset", "snmpbulkwalk", "snmptrap"], r"-[cAX][ =]?()").checks(&[Real]).hits(&["snmpwalk -v2c -c <a9> host"]),
    Rule::option("key-passphrase", "Passphrase of a new key", &["ssh-keygen", "ssh-add", "cryptsetup", "signtool"], r"-[NP](?:[ =,]|{q}){1,4}()").checks(&[Real]).hits(&["ssh-keygen -t rsa -N '<a9>' -f k"]),
    Rule::command("wireless", "Key of a wireless network", &["nmcli", "wpa_passphrase", "wpa_cli", "iwconfig", "iw ", "networksetup"], r"(?:\b(?:password|\S{0,24}psk|wep-key\d?|key)[ \t]+{q}?|\A[ \t]+[^\s-]\S*[ \t]+)()").checks(&[Real, NotProse]).hits(&["nmcli dev wifi connect home password <a9>", "wpa_passphrase home <a9>"]),
    Rule::command("wireless-password", "Password of a wireless network", &["nmcli"], r"\bpassword[ \t]+()").checks(&[Real]).hits(&["nmcli dev wifi connect home password sunshine"]),
    Rule::command("new-user", "Password of a user that is added or changed", &["rabbitmqctl", "dscl", "samba-tool", "freeipa"], r"\b(?:add_user|change_password|authenticate_user|-passwd[ \t]+\S+|setpassword|create)[ \t]+[^\s-]\S*[ \t]+()").checks(&[Real]).hits(&["rabbitmqctl add_user bob sunshine"]).misses(&["rabbitmqctl add_user bob"]),
    Rule::command("here-string", "Secret that a shell feeds to a program", &["kinit", "passwd", "smbpasswd", "ssh-add", "wrangler", "cryptsetup", "gpg", "openssl", "sudo", "vault", "docker", "gh ", "su ", "read "], r"<<<[ \t]*{q}?()").checks(&[Real]).hits(&["kinit bob <<< sunshine", "gh auth login --with-token <<< '<a40>'"]).misses(&["kinit bob <<< $PASS", "grep x <<< sunshine"]),
    Rule::command("auth-token", "Token that is handed to a program", &["ngrok", "vault", "netlify", "railway", "snyk", "sentry-cli", "doppler", "huggingface-cli", "wandb"], r"\b(?:add-authtoken|authtoken|auth|login)[ \t]+()").checks(&[Real, Mixed, Least(16)]).hits(&["ngrok authtoken <a43>_<a5>", "vault login <a24>"]).misses(&["vault login -method=github"]),
    Rule::command("secret-body", "Secret that is stored with a command", &["gh "], r"\bsecret[ \t]+set\b[^\n]{0,120}?(?:--body|-b)(?:[ =]|{q}){1,3}()").checks(&[Real]).hits(&["gh secret set TOKEN --body <a24>"]).misses(&["gh secret list"]),
    Rule::from("echoed-password", "Password that is fed to a program", &["echo ", "printf "], 240, r#"(?:echo|printf)[ \t]+(?:-\w+[ \t]+)*(?:{q}%s(?:\\n)?{q}[ \t]+)?{q}?(?:[\w.-]+:)?([^\s"'`|:$\x11-\x14\x17]{4,128})(?:\\n)?{q}?[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-S|--stdin)|(?:sudo[ \t]+)?(?:chpasswd|passwd|docker|podman|kinit|su\b|cryptsetup|gpg|vncpasswd|smbpasswd|gh[ \t]+auth|vault[ \t]+login|helm|htpasswd|openssl|security))"#).checks(&[Real]).chosen()
        .hits(&["echo <a9> | sudo -S reboot", "echo 'bob:<a9>' | chpasswd"]).misses(&["echo hello | cat", "echo $PASS | sudo -S ls"]),
    Rule::from("secure-string", "Password in a call of PowerShell", &["convertto-securestring", "pscredential"], 200, r#"(?i)[\w-]+[ \t(]+(?:-String[ \t]+)?(?:{q}[\w.@\\-]{1,64}{q}[ \t]*,[ \t]*)?{q}()"#).checks(&[Real]).chosen()
        .hits(&["ConvertTo-SecureString \"<a9>\" -AsPlainText -Force", "ConvertTo-SecureString -String 'sunshine' -AsPlainText"]).misses(&["ConvertTo-SecureString $env:PASS"]),
    Rule::from("expect-send", "Password that a script types", &["assword:"], 160, r#"(?i)assword:?[^\n"']{0,20}{q}[^\n]{0,20}{nl}?[ \t]*send(?:_user|line)?(?:[ \t(]+--)?[ \t(]*{q}()"#).checks(&[Real]).chosen().hits(&["expect \"password:\"\nsend \"<a9>\\r\""]),
    Rule::command("stored-value", "Secret that is put into a store of secrets", &["aws ", "az ", "gcloud", "doppler", "infisical"], r"\b(?:ssm|secretsmanager|keyvault|secrets?)\b[^\n]{0,200}?--(?:value|secret-string|string-value)[ =]{q}?()").checks(&[Real]).hits(&["aws ssm put-parameter --name /db/password --value 'sunshine' --type SecureString"]).misses(&["aws ec2 describe-tags --value x"]),
    Rule::option("keychain-option", "Password that is put into or unlocks a keychain", &["security add-generic-password", "security add-internet-password", "security unlock-keychain", "security import"], r"-(?:w|p|P)[ =]?()").checks(&[Real]).hits(&["security unlock-keychain -p <a9> login.keychain"]).misses(&["security unlock-keychain login.keychain"]),
    Rule::command("unlock", "Password that unlocks a store of passwords", &["bw ", "keepassxc-cli"], r"\bunlock[ \t]+()").checks(&[Real]).hits(&["bw unlock sunshine"]).misses(&["bw unlock --check"]),
    Rule::command("obscured", "Password that rclone obscures", &["rclone"], r"\bobscure[ \t]+()").checks(&[Real, NotSign]).hits(&["rclone obscure sunshine"]).misses(&["rclone obscure -", "rclone copy a b"]),
    Rule::command("encrypted-string", "Text that Ansible encrypts", &["ansible-vault"], r"\bencrypt_string[ \t]+(?:--[\w-]+[ \t]+\S+[ \t]+){0,3}()").checks(&[Real]).hits(&["ansible-vault encrypt_string 'sunshine' --name x"]).misses(&["ansible-vault encrypt x.yml"]),
    Rule::command("net-user", "Password of a user of Windows", &["net user"], r"\A[ \t]+[^\s/]\S{0,40}[ \t]+()").checks(&[Real, NotSign]).hits(&["net user bob <a9> /add"]).misses(&["net user bob /delete"]),
    Rule::from("password-command", "Password that a command prints for another", &["password-command", "password_command", "passphrase_command", "passwordeval", "askpass"], 160, r#"(?i)[\w-]+{q}?[ \t]*[ =:][ \t]*{q}?(?:echo|printf)[ \t]+{q}?()"#).checks(&[Real]).chosen().hits(&["restic --password-command 'echo sunshine' snapshots"]).misses(&["password_command: pass show db"]),
    Rule::from("user-and-password", "User and password as options of any program", &[" -u "], 160, r#" -u[ =]{q}?[\w.@\\-]{1,64}{q}?[ \t]+-p[ =]?{q}?([^\s\d:"'`\x11-\x14-][^\s:"'`/\x11-\x14]{3,63})"#).checks(&[Real, NotPlain]).chosen().hits(&["winrm -u bob -p <a9>"]).misses(&["docker run -u 1000 -p 8080:80 image", "tool -u bob -p $PASS", "nc -u host -p 53"]),
    Rule::command("alias-login", "Keys of an object store", &["mc ", "mcli "], r"\balias[ \t]+set[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+()").checks(&[Real]).hits(&["mc alias set m https://s3.example.org minio sunshine"]),
];
